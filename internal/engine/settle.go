package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/zclconf/go-cty/cty"
	ctymsgpack "github.com/zclconf/go-cty/cty/msgpack"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/dag"
	"github.com/towline/terraform-provider-towline/internal/journal"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// absentFor is how long the object of a create is looked for that was not there.
const absentFor = 24 * time.Hour

// Settled is what is known of calls whose process died before it could say.
type Settled struct {
	// State has the answers.
	State *states.State
	// Open are the intents that nothing could be found out about, each with a diagnostic that asks.
	Open []journal.Intent
	// Absent are creates whose object is not there. It may still appear, if the call was on its
	// way or its machine stood still: they are to be settled again, for as long as they are returned.
	Absent []journal.Intent
}

// Settle finds out how calls ended whose process died before it could say: it
// reads the real objects and records what there is.
func (e *Engine) Settle(ctx context.Context, config *configs.Config, state *states.State, intents []journal.Intent, opts PlanOptions) (Settled, tfdiags.Diagnostics) {
	open, absent := journal.Split(intents)
	before := Settled{state, open, absent}
	if len(intents) == 0 {
		return before, nil
	}
	prog, diags := e.program(ctx, config)
	if diags.HasErrors() {
		return before, diags
	}
	s := &settler{state: state.Copy(), now: e.opts.Now(), settled: map[uint64]bool{}, nodes: map[string]*dag.Node{}}
	s.planner = e.newPlanner(prog, s.state, opts)
	s.planner.walk.include = neededByProviders(prog)
	s.planner.walk.tolerant = true
	s.planner.walk.prepare()
	var release []*dag.Node
	for _, intent := range intents {
		if !intent.Absent.IsZero() && s.now.Sub(intent.Absent) > absentFor {
			s.settled[intent.ID] = true
			continue
		}
		release = append(release, s.add(intent)...)
	}
	s.planner.walk.sched.Release(release...)
	diags = append(diags, s.planner.walk.run(ctx)...)
	left := func(i journal.Intent) bool { return s.settled[i.ID] }
	return Settled{s.state, slices.DeleteFunc(open, left), append(slices.DeleteFunc(absent, left), s.absent...)}, diags
}

// settler settles intents, each in a node of its own.
type settler struct {
	planner *planner
	now     time.Time
	// nodes are those of calls that are open, by address.
	nodes map[string]*dag.Node
	// state, settled and absent are under the planner's lock.
	state   *states.State
	settled map[uint64]bool
	// absent are those whose object was not there, for the first time.
	absent []journal.Intent
}

// add makes the node that settles one intent.
func (s *settler) add(intent journal.Intent) []*dag.Node {
	w := s.planner.walk
	report := w.report
	if !intent.Absent.IsZero() {
		report = tfdiags.Diagnostics.HasErrors // it is looked for as well as can be, and nobody is asked
	}
	addr, diags := addrs.ParseResourceInstance(intent.Address)
	provider, moreDiags := addrs.ParseProviderConfig(intent.Provider)
	if report(append(diags, moreDiags...)) {
		return nil
	}
	run, diags, release := s.planner.providerFor(&states.Resource{Module: addr.Module, Addr: addr.Resource, Provider: provider}, nil)
	if report(diags) {
		return release
	}
	node := w.sched.Hold(0, func() string { return "settling " + intent.Address }, dag.Step{Class: run.class, Run: func(ctx context.Context) (*dag.Step, bool) {
		if !intent.Absent.IsZero() {
			s.lookAgain(ctx, run, addr, provider, intent)
			return nil, true
		}
		return nil, !report(s.settle(ctx, run, addr, provider, intent).WithAddress(intent.Address))
	}})
	w.sched.Depend(node, run.node)
	if before := s.nodes[intent.Address]; before != nil {
		w.sched.Depend(node, before) // what appears late gives way to what came after it
	} else if intent.Absent.IsZero() {
		s.nodes[intent.Address] = node
	}
	return append(release, node)
}

// settle finds out how one call ended.
func (s *settler) settle(ctx context.Context, run *providerRun, addr addrs.ResourceInstance, provider addrs.ProviderConfig, intent journal.Intent) tfdiags.Diagnostics {
	schema, diags := resourceSchema(run, addr.Resource.Type)
	if diags.HasErrors() {
		return diags
	}
	var obj *states.Object
	if intent.Prior != nil {
		prior, moreDiags := decodeObject(ctx, run.client, addr, schema, intent.Prior)
		if moreDiags.HasErrors() {
			return append(diags, moreDiags...)
		}
		obj, moreDiags = readObject(ctx, run.client, addr, schema, intent.Prior, prior)
		diags = append(diags, moreDiags...)
	} else {
		var moreDiags tfdiags.Diagnostics
		obj, moreDiags = s.find(ctx, run, addr, schema, intent)
		diags = append(diags, moreDiags...)
	}
	if diags.HasErrors() {
		return diags
	}
	s.record(addr, provider, intent, obj)
	return diags
}

// record settles an intent with the object that there is, nil if there is none.
func (s *settler) record(addr addrs.ResourceInstance, provider addrs.ProviderConfig, intent journal.Intent, obj *states.Object) {
	s.planner.mu.Lock()
	defer s.planner.mu.Unlock()
	if intent.Deposed != "" {
		s.state.SetDeposed(addr, intent.Deposed, provider, obj)
	} else {
		s.state.SetObject(addr, provider, obj)
	}
	s.settled[intent.ID] = true
	if intent.Prior == nil && obj == nil {
		intent.Absent = s.now
		s.absent = append(s.absent, intent)
	}
}

// lookAgain looks for an object that was not there before. Found, it is recorded, or if
// there is another one at its address by now, it is named. Nobody is asked about what
// is not there.
func (s *settler) lookAgain(ctx context.Context, run *providerRun, addr addrs.ResourceInstance, provider addrs.ProviderConfig, intent journal.Intent) {
	schema, diags := resourceSchema(run, addr.Resource.Type)
	if diags.HasErrors() {
		return
	}
	found, diags := s.find(ctx, run, addr, schema, intent)
	if diags.HasErrors() {
		return
	}
	current := s.current(addr)
	if current == nil {
		if found != nil {
			s.record(addr, provider, intent, found)
		}
		return
	}
	same, known := s.isMade(ctx, run, addr, schema, intent, current)
	if !known || !same && found == nil {
		return
	}
	if !same {
		s.planner.walk.report(tfdiags.New(tfdiags.Warning, "Object that was made late is in no state",
			fmt.Sprintf("The creation of %[1]s that was begun at %[2]s has been carried out after it had been looked for, and %[1]s is another object by now. Look for it, and delete it, or import it under an address of its own.",
				intent.Address, intent.Time.Format("2006-01-02 15:04:05 MST"))).WithAddress(intent.Address))
	}
	s.planner.mu.Lock()
	defer s.planner.mu.Unlock()
	s.settled[intent.ID] = true
}

func (s *settler) current(addr addrs.ResourceInstance) *states.Object {
	s.planner.mu.Lock()
	defer s.planner.mu.Unlock()
	return s.state.Object(addr)
}

// isMade tells whether a recorded object is as a create had planned it; known is false if
// it cannot be told.
func (s *settler) isMade(ctx context.Context, run *providerRun, addr addrs.ResourceInstance, schema *providers.ResourceSchema, intent journal.Intent, current *states.Object) (same, known bool) {
	planned, err := ctymsgpack.Unmarshal(intent.Planned, schema.Block.ImpliedType())
	if err != nil {
		return false, false
	}
	object, diags := decodeObject(ctx, run.client, addr, schema, current)
	if diags.HasErrors() {
		return false, false
	}
	return agrees(planned, object.Value), true
}

// find looks for the object of a create that nobody saw the end of: by reading
// with what was planned, which works where an object is known by its arguments.
func (s *settler) find(ctx context.Context, run *providerRun, addr addrs.ResourceInstance, schema *providers.ResourceSchema, intent journal.Intent) (*states.Object, tfdiags.Diagnostics) {
	planned, err := ctymsgpack.Unmarshal(intent.Planned, schema.Block.ImpliedType())
	if err != nil {
		return nil, tfdiags.FromError("Invalid journal entry", err)
	}
	probe := cty.UnknownAsNull(planned)
	resp := run.client.ReadResource(ctx, providers.ReadResourceRequest{TypeName: addr.Resource.Type, PriorState: probe, Private: intent.Private})
	if resp.Diagnostics.HasErrors() || resp.NewState == cty.NilVal {
		return nil, append(resp.Diagnostics, openQuestion(intent)...) // an error is no answer
	}
	found := !resp.NewState.IsNull() && resp.NewState.IsWhollyKnown()
	switch {
	case found && agrees(planned, resp.NewState) && informed(planned, resp.NewState):
		return s.adopt(schema, intent, resp)
	case found || intent.ReadsByID || !s.readsByArguments(ctx, run, addr, schema):
		return nil, openQuestion(intent)
	default:
		return nil, nil
	}
}

// agrees tells whether a found object can be the planned one: every known
// top-level value that is not null is there.
func agrees(planned, found cty.Value) bool {
	for name := range planned.Type().AttributeTypes() {
		want, got := planned.GetAttr(name), found.GetAttr(name)
		if want.IsWhollyKnown() && !want.IsNull() && want.Type().IsPrimitiveType() && !want.RawEquals(got) {
			return false
		}
	}
	return true
}

// informed tells whether a found object holds anything that the question did not:
// a provider that gives the question back has not looked.
func informed(planned, found cty.Value) bool {
	asked := false
	for name := range planned.Type().AttributeTypes() {
		if planned.GetAttr(name).IsKnown() {
			continue
		}
		if !found.GetAttr(name).IsNull() {
			return true
		}
		asked = true
	}
	return !asked
}

func (s *settler) adopt(schema *providers.ResourceSchema, intent journal.Intent, resp providers.ReadResourceResponse) (*states.Object, tfdiags.Diagnostics) {
	obj, err := newObject(schema, resp.NewState, resp.Encoded, objectMeta{
		private: resp.Private, dependencies: intent.Dependencies, createFirst: intent.CreateBeforeDestroy,
	})
	return obj, tfdiags.FromError("Failed to record object", err)
}

// maxSamples bounds the recorded objects on which a way of reading is tried.
const maxSamples = 5

// readsByArguments tells whether reading finds objects of a type without their
// computed values, by trying it on some that are recorded and exist. Without one to
// try it on the answer is yes: the provider did answer that there is no such object.
func (s *settler) readsByArguments(ctx context.Context, run *providerRun, addr addrs.ResourceInstance, schema *providers.ResourceSchema) bool {
	for _, sample := range s.samples(addr.Resource.Type) {
		known, diags := decodeObject(ctx, run.client, addr, schema, sample)
		if diags.HasErrors() {
			return false
		}
		attrs := known.Value.AsValueMap()
		for name, attr := range schema.Block.Attributes {
			if attr.Computed {
				attrs[name] = cty.NullVal(attr.ImpliedType())
			}
		}
		if found, ok := exists(ctx, run, addr, cty.ObjectVal(attrs), sample); !ok || found {
			return ok
		}
		if found, ok := exists(ctx, run, addr, known.Value, sample); !ok || found {
			return false
		}
		// The sample is gone, as when its own deletion was under way. It proves nothing.
	}
	return true
}

// samples are recorded objects of a type.
func (s *settler) samples(typeName string) []*states.Object {
	s.planner.mu.Lock()
	defer s.planner.mu.Unlock()
	var out []*states.Object
	s.state.Each(func(_ addrs.ResourceInstance, r *states.Resource, inst *states.Instance) {
		if r.Addr.Mode == addrs.Managed && r.Addr.Type == typeName && inst.Current != nil && len(out) < maxSamples {
			out = append(out, inst.Current)
		}
	})
	return out
}

// exists reads an object; ok is false if the provider could not say.
func exists(ctx context.Context, run *providerRun, addr addrs.ResourceInstance, question cty.Value, sample *states.Object) (found, ok bool) {
	resp := run.client.ReadResource(ctx, providers.ReadResourceRequest{TypeName: addr.Resource.Type, PriorState: question, Private: sample.Private})
	if resp.Diagnostics.HasErrors() || resp.NewState == cty.NilVal {
		return false, false
	}
	return !resp.NewState.IsNull(), true
}

// openQuestion asks a person what became of a create.
func openQuestion(intent journal.Intent) tfdiags.Diagnostics {
	return tfdiags.New(tfdiags.Error, "Create with unknown outcome",
		fmt.Sprintf("The creation of %[1]s was begun at %[2]s, but the process died before the answer came, and the provider cannot look the object up. To keep it from being created twice, nothing is done with it. Look whether it exists. If it does, run \"towline import %[1]s ID\"; if not, \"towline settle -absent %[1]s\". On an agent's machine, \"towline agent settle\" takes the same answers.",
			intent.Address, intent.Time.Format("2006-01-02 15:04:05 MST")))
}

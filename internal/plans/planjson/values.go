package planjson

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/lang"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/states"
)

// values are the outputs and objects of a state, recorded or planned.
type values struct {
	Outputs    map[string]outputValue `json:"outputs,omitempty"`
	RootModule module                 `json:"root_module"`
}

type outputValue struct {
	Sensitive bool            `json:"sensitive"`
	Type      json.RawMessage `json:"type,omitempty"`
	Value     json.RawMessage `json:"value,omitempty"`
}

type module struct {
	Resources []resource `json:"resources,omitempty"`
	Address   string     `json:"address,omitempty"`
	Children  []*module  `json:"child_modules,omitempty"`
}

type resource struct {
	Address         string          `json:"address"`
	Mode            string          `json:"mode"`
	Type            string          `json:"type"`
	Name            string          `json:"name"`
	Index           any             `json:"index,omitempty"`
	ProviderName    string          `json:"provider_name"`
	SchemaVersion   int64           `json:"schema_version"`
	Values          json.RawMessage `json:"values,omitempty"`
	SensitiveValues any             `json:"sensitive_values"`
	DependsOn       []string        `json:"depends_on,omitempty"`
	Tainted         bool            `json:"tainted,omitempty"`
	DeposedKey      string          `json:"deposed_key,omitempty"`
}

type stateDoc struct {
	FormatVersion    string     `json:"format_version"`
	TerraformVersion string     `json:"terraform_version,omitempty"`
	Values           *values    `json:"values,omitempty"`
	Checks           []checkDoc `json:"checks,omitempty"`
}

func modeName(mode addrs.ResourceMode) string {
	if mode == addrs.Data {
		return "data"
	}
	return "managed"
}

// index returns an instance key as JSON has it, nil without one.
func index(key addrs.InstanceKey) any {
	if n, ok := key.Int(); ok {
		return n
	}
	if text, ok := key.Text(); ok {
		return text
	}
	return nil
}

// tree collects resources by module instance.
type tree struct {
	root  module
	known map[string]*module
}

// add files a resource under its module, making the modules on the way.
func (t *tree) add(path addrs.ModuleInstance, r resource) {
	m := t.module(path)
	m.Resources = append(m.Resources, r)
}

func (t *tree) module(path addrs.ModuleInstance) *module {
	if len(path) == 0 {
		return &t.root
	}
	key := path.String()
	if m := t.known[key]; m != nil {
		return m
	}
	m := &module{Address: key}
	parent := t.module(path[:len(path)-1])
	parent.Children = append(parent.Children, m)
	if t.known == nil {
		t.known = map[string]*module{}
	}
	t.known[key] = m
	return m
}

// sorted orders modules by the text of their address, which puts [10] before
// [2] as Terraform does, and returns the root. With byText, resources as well.
func (t *tree) sorted(byText bool) module {
	t.root.sort(byText)
	return t.root
}

func (m *module) sort(byText bool) {
	slices.SortStableFunc(m.Children, func(a, b *module) int { return cmp.Compare(a.Address, b.Address) })
	if byText {
		slices.SortStableFunc(m.Resources, func(a, b resource) int { return cmp.Compare(a.Address, b.Address) })
	}
	for _, child := range m.Children {
		child.sort(byText)
	}
}

// plannedValues is what there will be after the apply, as far as it is known.
func (e *encoder) plannedValues(plan *plans.Plan) (values, error) {
	var t tree
	for _, c := range plan.Changes {
		forgotten := c.Action == plans.Forget
		if c.Deposed != "" || c.After == cty.NilVal || (c.After.IsNull() && !forgotten) {
			continue
		}
		schema, err := e.schemas.resource(c.Provider.Provider, c.Addr.Resource)
		if err != nil {
			return values{}, err
		}
		r := describe(c.Addr, c.Provider.Provider)
		r.SchemaVersion = schema.Version
		if forgotten { // it goes on to exist, but as what is nobody's business
			r.SensitiveValues = false
			t.add(c.Addr.Module, r)
			continue
		}
		if r.Values, err = marshal(c.After); err != nil {
			return values{}, fmt.Errorf("%s: %w", c.Addr, err)
		}
		if string(r.Values) == "{}" { // nothing is known yet
			r.Values = nil
		}
		sensitive := c.AfterSensitive
		if c.Action.IsReplace() && c.Reason != plans.ReplaceBecauseTainted { // terraform forgets the schema's here
			sensitive = c.AfterConfigSensitive
		}
		r.SensitiveValues = sensitiveShadow(lang.MarkPaths(c.After, sensitive))
		t.add(c.Addr.Module, r)
	}
	out := values{Outputs: map[string]outputValue{}, RootModule: t.sorted(true)}
	for _, o := range plan.Outputs {
		if o.Action == plans.Delete {
			continue
		}
		doc := outputValue{Sensitive: o.Sensitive}
		if o.After.IsWhollyKnown() {
			var err error
			after := o.After
			if after.IsNull() {
				after = cty.NullVal(cty.DynamicPseudoType) // a plan keeps no type of a null
			}
			if doc, err = output(after, o.Sensitive); err != nil {
				return values{}, fmt.Errorf("output %s: %w", o.Name, err)
			}
		}
		out.Outputs[o.Name] = doc
	}
	return out, nil
}

func describe(addr addrs.ResourceInstance, provider addrs.Provider) resource {
	return resource{
		Address: addr.String(), Mode: modeName(addr.Resource.Mode), Type: addr.Resource.Type, Name: addr.Resource.Name,
		Index: index(addr.Key), ProviderName: provider.String(),
	}
}

func output(val cty.Value, sensitive bool) (outputValue, error) {
	val, _ = val.UnmarkDeep()
	encoded, err := ctyjson.Marshal(val, val.Type())
	if err != nil {
		return outputValue{}, err
	}
	ty, err := ctyjson.MarshalType(val.Type())
	return outputValue{Sensitive: sensitive, Type: ty, Value: encoded}, err
}

// priorState is the state that the plan starts from, with the output values that
// are known by now.
func (e *encoder) priorState(plan *plans.Plan, config *configs.Config) (*stateDoc, error) {
	if plan.Prior == nil {
		return nil, nil
	}
	state := plan.Prior.Copy()
	state.CheckResults = nil // the plan has its own
	state.TerraformVersion = states.TerraformVersion
	if state.Outputs == nil {
		state.Outputs = map[string]*states.Output{}
	}
	for _, o := range plan.Outputs {
		decl := config.Module.Outputs[o.Name]
		switch {
		case decl == nil || plan.Mode == plans.DestroyMode || !o.After.IsWhollyKnown():
		case o.After.IsNull():
			delete(state.Outputs, o.Name)
		default:
			state.Outputs[o.Name] = &states.Output{Value: o.After, Sensitive: decl.Sensitive}
		}
	}
	if state.Empty() {
		return nil, nil
	}
	settled := *e
	settled.dependencies = map[string][]string{}
	for _, c := range plan.Changes {
		if c.Action == plans.NoOp {
			settled.dependencies[c.Addr.String()] = c.Dependencies
		}
	}
	return settled.state(state)
}

// state encodes a state.
func (e *encoder) state(state *states.State) (*stateDoc, error) {
	doc := &stateDoc{FormatVersion: stateFormat}
	if state == nil || state.Empty() {
		return doc, nil
	}
	doc.TerraformVersion = state.TerraformVersion
	results, err := states.DecodeChecks(state.CheckResults)
	if err != nil {
		return nil, err
	}
	states.SortChecks(results)
	doc.Checks = checks(results)
	doc.Values = &values{Outputs: map[string]outputValue{}}
	for name, o := range state.Outputs {
		encoded, err := output(o.Value, o.Sensitive)
		if err != nil {
			return nil, fmt.Errorf("output %s: %w", name, err)
		}
		doc.Values.Outputs[name] = encoded
	}
	var t tree
	var failed error
	state.Each(func(addr addrs.ResourceInstance, r *states.Resource, inst *states.Instance) {
		objects := make(map[string]*states.Object, len(inst.Deposed)+1)
		maps.Copy(objects, inst.Deposed)
		if inst.Current != nil {
			objects[""] = inst.Current
		}
		for _, key := range slices.Sorted(maps.Keys(objects)) {
			encoded, err := e.object(addr, r.Provider.Provider, objects[key])
			if err != nil && failed == nil {
				failed = fmt.Errorf("%s: %w", addr, err)
			}
			encoded.DeposedKey = key
			t.add(addr.Module, encoded)
		}
	})
	doc.Values.RootModule = t.sorted(false)
	return doc, failed
}

// object encodes one recorded object.
func (e *encoder) object(addr addrs.ResourceInstance, provider addrs.Provider, obj *states.Object) (resource, error) {
	out := describe(addr, provider)
	schema, err := e.schemas.resource(provider, addr.Resource)
	if err != nil {
		return out, err
	}
	var val cty.Value
	if known := obj.Decoded(); known != nil {
		val = known.Value
	} else if val, err = states.DecodeAttributes(obj.AttrsJSON, schema.Block.ImpliedType()); err != nil {
		return out, fmt.Errorf("decode the recorded object: %w", err)
	}
	paths := append(slices.Clone(obj.Sensitive), schema.Block.SensitivePaths(val)...)
	out.SchemaVersion = obj.SchemaVersion
	out.SensitiveValues = sensitiveShadow(lang.MarkPaths(val, paths))
	out.DependsOn, out.Tainted = obj.Dependencies, obj.Tainted
	if now, settled := e.dependencies[out.Address]; settled && addr.Resource.Mode == addrs.Managed {
		out.DependsOn = now
	}
	out.Values, err = marshal(val)
	return out, err
}

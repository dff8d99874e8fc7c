package plans

import (
	"cmp"
	"slices"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/states"
)

// Action is what is to happen to an object.
type Action string

// The actions, named as in Terraform's plan JSON where one word serves.
const (
	NoOp             Action = "no-op"
	Create           Action = "create"
	Read             Action = "read"
	Update           Action = "update"
	Delete           Action = "delete"
	DeleteThenCreate Action = "delete-create"
	CreateThenDelete Action = "create-delete"
	Forget           Action = "forget"
)

// IsReplace tells whether an object is replaced by a new one.
func (a Action) IsReplace() bool { return a == DeleteThenCreate || a == CreateThenDelete }

// Reason says why an action was chosen where the values do not show it. The
// texts are those of Terraform's plan JSON.
type Reason string

// The reasons.
const (
	ReasonNone                   Reason = ""
	ReplaceBecauseCannotUpdate   Reason = "replace_because_cannot_update"
	ReplaceBecauseTainted        Reason = "replace_because_tainted"
	ReplaceByRequest             Reason = "replace_by_request"
	ReplaceByTriggers            Reason = "replace_by_triggers"
	DeleteBecauseNoResource      Reason = "delete_because_no_resource_config"
	DeleteBecauseNoModule        Reason = "delete_because_no_module"
	DeleteBecauseWrongRepetition Reason = "delete_because_wrong_repetition"
	DeleteBecauseCountIndex      Reason = "delete_because_count_index"
	DeleteBecauseEachKey         Reason = "delete_because_each_key"
	DeleteBecauseNoMoveTarget    Reason = "delete_because_no_move_target"
	ReadBecauseConfigUnknown     Reason = "read_because_config_unknown"
	ReadBecauseDependencyPending Reason = "read_because_dependency_pending"
	ReadBecauseCheckNested       Reason = "read_because_check_nested"
)

// Mode is the purpose of a plan.
type Mode string

// The modes.
const (
	NormalMode      Mode = "normal"
	DestroyMode     Mode = "destroy"
	RefreshOnlyMode Mode = "refresh-only"
)

// Change is the change of one resource instance's object. Values carry no marks
// and have the type that the resource type's schema implies.
type Change struct {
	Addr addrs.ResourceInstance
	// PrevAddr is the address in the previous state; equal to Addr unless moved.
	PrevAddr addrs.ResourceInstance
	// Importing is the id by which the object was imported while planning, or "".
	Importing string
	// GeneratedConfig is the resource block that was written for the object, or "".
	GeneratedConfig string
	// Deposed is the key of a deposed object, or "" for the current one.
	Deposed  string
	Provider addrs.ProviderConfig
	Action   Action
	Reason   Reason
	// Before and After are null where there is no object.
	Before, After cty.Value
	// BeforeSensitive and AfterSensitive are the paths of sensitive values, by
	// configuration and schema together.
	BeforeSensitive, AfterSensitive []cty.Path
	// AfterConfigSensitive is the part of AfterSensitive that the configuration
	// causes; it goes into the state.
	AfterConfigSensitive []cty.Path
	RequiredReplace      []cty.Path
	// Private is the provider's own data for the apply.
	Private []byte
	// SchemaVersion is the version of the schema that After conforms to.
	SchemaVersion int64
	// Overrides are deviations from the configuration that the change was planned
	// with; the apply repeats them.
	Overrides Overrides
	// CreateBeforeDestroy and Dependencies go into the state with the object.
	CreateBeforeDestroy bool
	Dependencies        []string
}

// Moved tells whether the object is recorded at another address.
func (c *Change) Moved() bool { return !c.PrevAddr.Equal(c.Addr) }

// Overrides are deviations from the configuration of one instance.
type Overrides struct {
	// Owned says which attributes may be changed; of the others the real value is kept
	// whatever the configuration says. Nil means all.
	Owned *control.Ownership
	// Recorded is the recorded object of one that drifted; else NilVal.
	Recorded cty.Value
	// Restore are drifted attributes that get their recorded values again, also where
	// the configuration leaves them to the provider.
	Restore []string
	// Held are drifted attributes that stay as they are as long as the configuration
	// asks for what is recorded.
	Held []string
}

// Empty tells that nothing deviates.
func (o Overrides) Empty() bool { return o.Owned == nil && o.Recorded == cty.NilVal }

// Ownership is what may be changed: what is owned without what is held.
func (o Overrides) Ownership() control.Ownership {
	own := control.WholeOwnership
	if o.Owned != nil {
		own = *o.Owned
	}
	return own.Without(o.Held)
}

// SameQuestion tells whether a provider is asked the same as with an ownership alone.
func (o Overrides) SameQuestion(owned *control.Ownership) bool {
	return len(o.Held) == 0 && sameOwnership(o.Owned, owned)
}

// Equal tells whether both are the same deviations, in the same order.
func (o Overrides) Equal(other Overrides) bool {
	return slices.Equal(o.Restore, other.Restore) && slices.Equal(o.Held, other.Held) && sameOwnership(o.Owned, other.Owned) &&
		(o.Recorded == cty.NilVal) == (other.Recorded == cty.NilVal) && (o.Recorded == cty.NilVal || o.Recorded.RawEquals(other.Recorded))
}

func sameOwnership(a, b *control.Ownership) bool {
	return a == b || a != nil && b != nil && a.Equal(*b)
}

// CompareChanges orders changes as Terraform lists them: outer modules before
// inner ones, then by address, the current object before deposed ones.
func CompareChanges(a, b *Change) int {
	return cmp.Or(cmp.Compare(len(a.Addr.Module), len(b.Addr.Module)), a.Addr.Compare(b.Addr), cmp.Compare(a.Deposed, b.Deposed))
}

// OutputChange is the change of one root output value.
type OutputChange struct {
	Name          string
	Action        Action
	Before, After cty.Value
	Sensitive     bool
}

// Variable is the value of a root input variable.
type Variable struct {
	// Value is NilVal for an ephemeral variable, which no plan keeps.
	Value cty.Value
	// Ephemeral tells that the variable was set and must be set again for the apply.
	Ephemeral bool
	// FromDefault tells that nobody set the variable.
	FromDefault bool
}

// RelevantAttribute is an attribute of a resource that contributed to a plan.
type RelevantAttribute struct {
	// Resource is the address of a resource instance, or of a resource if the
	// configuration refers to all of its instances.
	Resource string
	// Path is the attribute; empty means the whole object.
	Path cty.Path
}

// FunctionResults are calls of providers' functions and their results, of both of
// which only keyed digests are kept.
type FunctionResults struct {
	Key     []byte
	Results map[string]string // by call
}

// Plan is what an operation would do. It is immutable once made.
type Plan struct {
	Mode      Mode
	Created   time.Time
	Variables map[string]Variable
	// Changes holds every instance in configuration or state, unchanged ones
	// too, in the order of [CompareChanges].
	Changes []*Change
	// Drift holds the objects that differ from their record, from record
	// (Before) to real object (After), in the same order.
	Drift   []*Change
	Outputs []*OutputChange
	// Checks are the outcomes of conditions, ordered by address.
	Checks []states.CheckResult
	// ModuleOutputs are the outputs of modules below the root that have a value in this
	// plan, by the module instance's address. No state records them, so that each
	// counts as changed.
	ModuleOutputs map[string][]string
	// Relevant are the attributes that contributed to the changes: drift elsewhere
	// explains nothing in the plan. Filled only if there is drift.
	Relevant []RelevantAttribute
	// Functions tells what functions of providers gave, so that an apply notices
	// one that gives something else.
	Functions FunctionResults
	// Previous is the state as recorded; Prior is the same after reading the real objects.
	Previous, Prior *states.State
	Targets         []addrs.Target
	ForceReplace    []addrs.ResourceInstance
	// Errored tells that the plan is incomplete because of errors.
	Errored bool
	// Refused tells that nothing was planned: what was asked for was refused before.
	Refused bool
	// LeftAlone are the instances for which nothing was planned because they, or what
	// they depend on, could not be read.
	LeftAlone []addrs.ResourceInstance
	// Awaited are instances that do not exist and for which nothing was to be planned;
	// Waiting are those for which nothing was planned because they depend on one, or have
	// to outlive what does.
	Awaited, Waiting []addrs.ResourceInstance
	// Missing are variables whose values could not be had, so that nothing was planned for
	// what depends on them.
	Missing []string
	// Listed is what there is besides, of the list blocks that were asked for; no file
	// keeps it.
	Listed []Listed
	// Complete tells that applying it leaves nothing to do for this configuration.
	Complete bool
	// Origin is what a plan shares with those that are the same plan given again, so that all
	// is the same but its time and the version of the record; nil where nobody says so. No
	// file keeps it.
	Origin *Origin
}

// Origin stands for the making of one plan. Only its identity counts.
type Origin struct{ _ byte } // of some size, so that no two have the same address

// Listed is what one instance of a list block named.
type Listed struct {
	// Addr is the address of the instance, such as list.aws_instance.all["a"].
	Addr     string
	Type     string
	Provider addrs.Provider
	// Unknown tells that nothing could be listed: what there is, is not known.
	Unknown   bool
	Resources []providers.ListedResource
	// RequiredIdentity are the attributes of identities that tell one object from another.
	RequiredIdentity []string
}

// Applyable tells whether applying the plan would change anything.
func (p *Plan) Applyable() bool {
	if p.Errored {
		return false
	}
	if p.Mode == RefreshOnlyMode {
		changed := func(c *Change) bool { return c.Action != NoOp }
		return slices.ContainsFunc(p.Drift, changed) || p.outputsChange() || p.dependenciesChange()
	}
	for _, c := range p.Changes {
		if c.Action != NoOp || c.Moved() || c.Importing != "" {
			return true
		}
	}
	return p.outputsChange() || len(p.ForgottenData()) > 0
}

// ForgottenData are the recorded reads that destroying leaves out of the state. That
// changes nothing real, so they are not among the changes.
func (p *Plan) ForgottenData() []addrs.ResourceInstance {
	if p.Mode != DestroyMode {
		return nil
	}
	var out []addrs.ResourceInstance
	for _, r := range p.Previous.Resources() {
		if r.Addr.Mode != addrs.Data {
			continue
		}
		for key := range r.Instances {
			addr := addrs.ResourceInstance{Module: r.Module, Resource: r.Addr, Key: key}
			contains := func(t addrs.Target) bool { return t.Contains(addr) }
			if len(p.Targets) == 0 || slices.ContainsFunc(p.Targets, contains) {
				out = append(out, addr)
			}
		}
	}
	return out
}

// OnlyChecks tells whether applying the plan would do no more than make its checks again.
func (p *Plan) OnlyChecks() bool {
	for _, c := range p.Changes {
		if c.Reason != ReadBecauseCheckNested && (c.Action != NoOp || c.Moved() || c.Importing != "") {
			return false
		}
	}
	return p.Mode == NormalMode && !p.outputsChange()
}

// HasOutput tells whether the plan says anything of a root output.
func (p *Plan) HasOutput(name string) bool {
	return slices.ContainsFunc(p.Outputs, func(o *OutputChange) bool { return o.Name == name })
}

func (p *Plan) outputsChange() bool {
	for _, o := range p.Outputs {
		if o.Action != NoOp {
			return true
		}
	}
	return false
}

// dependenciesChange tells whether any recorded object depends on other resources now.
func (p *Plan) dependenciesChange() bool {
	changed := false
	p.Prior.Each(func(addr addrs.ResourceInstance, _ *states.Resource, inst *states.Instance) {
		was := p.Previous.Object(addr)
		changed = changed || (was != nil && inst.Current != nil && !slices.Equal(was.Dependencies, inst.Current.Dependencies))
	})
	return changed
}

// Counts are the numbers of a plan's summary line.
type Counts struct{ Import, Add, Change, Destroy int }

// Count counts a plan's changes of managed resources as Terraform's summary line does.
func (p *Plan) Count() Counts {
	var n Counts
	for _, c := range p.Changes {
		if c.Importing != "" {
			n.Import++
		}
		switch c.Action {
		case Create:
			n.Add++
		case Update:
			n.Change++
		case Delete:
			n.Destroy++
		case DeleteThenCreate, CreateThenDelete:
			n.Add++
			n.Destroy++
		}
	}
	return n
}

// ChangedAttributes lists the names of a change's top-level attributes that
// differ, sorted; none for a create or delete.
func ChangedAttributes(c *Change) []string {
	if c.Before.IsNull() || c.After.IsNull() {
		return nil
	}
	var out []string
	for name := range c.Before.Type().AttributeTypes() {
		if !c.Before.GetAttr(name).RawEquals(c.After.GetAttr(name)) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// Providers are those of all objects that the plan tells of, recorded ones too.
func (p *Plan) Providers() map[addrs.Provider]bool {
	used := map[addrs.Provider]bool{}
	for _, list := range [][]*Change{p.Changes, p.Drift} {
		for _, c := range list {
			used[c.Provider.Provider] = true
		}
	}
	for _, state := range []*states.State{p.Prior, p.Previous} {
		if state == nil {
			continue
		}
		for _, r := range state.Resources() {
			used[r.Provider.Provider] = true
		}
	}
	return used
}

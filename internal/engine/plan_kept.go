package engine

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// keep gives an instance for which nothing is planned the value that is recorded.
// Where only reality is taken up, its conditions are checked against that.
func (p *planner) keep(inst *instance, read *objectRead) tfdiags.Diagnostics {
	inst.value = p.recordedValue(inst, read)
	switch {
	case read != nil && read.now != nil: // it exists
	case p.given(inst.addr):
		p.noteLeft(inst.addr)
	case p.frozen(inst.addr):
		p.noteAwaited(inst.addr)
	}
	if p.opts.Mode != plans.RefreshOnlyMode || p.frozen(inst.addr) {
		return nil
	}
	return append(inst.preconditions(), inst.postconditions()...)
}

// frozen tells whether nothing is to be planned for an instance.
func (p *planner) frozen(addr addrs.ResourceInstance) bool {
	frozen := p.given(addr) || p.opts.Frozen != nil && p.opts.Frozen(addr)
	if frozen {
		p.seen.odd.Store(true)
	}
	return frozen
}

// given tells whether somebody else manages an instance.
func (p *planner) given(addr addrs.ResourceInstance) bool {
	return p.opts.Given != nil && p.opts.Given(addr)
}

// recordedValue is what references see of an instance that is not planned.
func (p *planner) recordedValue(inst *instance, read *objectRead) cty.Value {
	if read == nil || read.now == nil {
		return cty.UnknownVal(inst.object.schema.Block.ImpliedType())
	}
	return markObject(inst.object.schema, read.now.Decoded().Value, read.now.Sensitive)
}

package engine

import (
	"context"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/dag"
	"github.com/towline/terraform-provider-towline/internal/lang"
)

// validator is the operation that checks a configuration with everything
// unknown that only a plan can know.
type validator struct{ walk *walk }

func (w *walk) validating() bool {
	_, is := w.op.(*validator)
	return is
}

// instance implements operation: the provider checks the configuration.
func (v *validator) instance(inst *instance) dag.Step {
	o := inst.object
	run := v.walk.providers[o.provider]
	v.walk.sched.Depend(inst.node, run.node)
	return dag.Step{Class: classCompute, Run: func(context.Context) (*dag.Step, bool) {
		inst.value = cty.UnknownVal(o.schema.Block.ImpliedType())
		if o.isEphemeral() {
			inst.value = inst.value.Mark(lang.Ephemeral)
		}
		ev, diags := v.walk.evaluate(inst)
		if v.walk.report(diags) {
			return dag.Failed()
		}
		return &dag.Step{Class: run.local, Run: func(ctx context.Context) (*dag.Step, bool) {
			check := run.client.ValidateResourceConfig
			switch o.resource.Addr.Mode {
			case addrs.Data:
				check = run.client.ValidateDataSourceConfig
			case addrs.Ephemeral:
				check = run.client.ValidateEphemeralConfig
			}
			diags := check(ctx, o.resource.Addr.Type, ev.config)
			return nil, !v.walk.report(locate(diags, o.addr.String(), o.resource.Config))
		}}, true
	}}
}

// estimate implements operation.
func (v *validator) estimate(*object) time.Duration { return 0 }

// expanded implements operation.
func (v *validator) expanded(*moduleInst, *object, *instanceSet) {}

// expandedCall implements operation.
func (v *validator) expandedCall(*moduleInst, *object, []addrs.InstanceKey) {}

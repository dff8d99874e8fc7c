package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/dag"
	"github.com/towline/terraform-provider-towline/internal/lang"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// Validate checks a configuration without state, variables or real objects.
func (e *Engine) Validate(ctx context.Context, config *configs.Config) tfdiags.Diagnostics {
	prog, diags := e.program(ctx, config)
	return append(diags, e.validate(ctx, prog, ".")...)
}

// validate checks what a program can be checked for; nil is one that has no order.
func (e *Engine) validate(ctx context.Context, prog *program, baseDir string) tfdiags.Diagnostics {
	if prog == nil {
		return nil
	}
	w := e.newWalk(prog, nil, nil, lang.Functions(lang.FunctionOptions{BaseDir: baseDir, PlanTime: e.opts.Now(), Pure: true}))
	w.op = &validator{walk: w}
	w.prepare()
	return withoutRepeats(w.run(ctx))
}

// mistakes are the problems of a program in which there are errors. That there are
// none is found out once: it stays so.
func (e *Engine) mistakes(ctx context.Context, prog *program, baseDir string) tfdiags.Diagnostics {
	if prog.valid {
		return nil
	}
	diags := e.validate(ctx, prog, baseDir)
	if diags.HasErrors() {
		return diags
	}
	prog.valid = ctx.Err() == nil
	return nil
}

// withoutRepeats leaves of the same problem of several instances only that of the first:
// what is wrong with a configuration is wrong once. One instance may have it twice.
func withoutRepeats(diags tfdiags.Diagnostics) tfdiags.Diagnostics {
	first := map[string]string{} // addresses by problem
	return slices.DeleteFunc(diags, func(d tfdiags.Diagnostic) bool {
		if d.Subject == nil {
			return false
		}
		key := fmt.Sprint(d.Severity, d.Subject, d.Summary, d.Detail)
		addr, seen := first[key]
		if !seen {
			first[key] = d.Address
		}
		return seen && (d.Address == "" || d.Address != addr)
	})
}

// invalid finds, after planning, errors that the configuration has whatever there
// is. Terraform looks for them first, and then plans nothing; planning tells about
// them as well, so that only plans that fail, or that have passed over blocks
// without instances, look twice.
func (p *planner) invalid(ctx context.Context, diags tfdiags.Diagnostics) tfdiags.Diagnostics {
	if !diags.HasErrors() && !p.walk.unseen.Load() || ctx.Err() != nil || p.walk.prog.opens {
		return nil
	}
	return p.engine.mistakes(ctx, p.walk.prog, cmp.Or(p.opts.BaseDir, "."))
}

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

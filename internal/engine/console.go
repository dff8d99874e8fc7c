package engine

import (
	"context"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/bounds"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/dag"
	"github.com/towline/terraform-provider-towline/internal/lang"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// consoleInput is the name of what is typed, in diagnostics.
const consoleInput = "<console-input>"

// Console evaluates expressions of somebody who asks: in the root module, with
// objects as they are recorded. What is not recorded is unknown.
type Console struct {
	engine *Engine
	walk   *walk
}

// Console evaluates a configuration with what the state records of it. Problems
// that leave something to ask are returned along with the console.
func (e *Engine) Console(ctx context.Context, config *configs.Config, state *states.State, variables map[string]cty.Value) (*Console, tfdiags.Diagnostics) {
	prog, diags := e.program(ctx, config)
	if diags.HasErrors() {
		return nil, diags
	}
	w := e.newViewer(prog, state, variables, lang.ConsoleFunctions(lang.Functions(lang.FunctionOptions{BaseDir: ".", PlanTime: e.opts.Now()})), false)
	return &Console{e, w}, append(diags, w.run(ctx)...)
}

// newViewer prepares a walk that takes objects as they are recorded and asks no
// provider. Typed is the field of [viewer].
func (e *Engine) newViewer(prog *program, state *states.State, variables map[string]cty.Value, fns map[string]function.Function, typed bool) *walk {
	w := e.newWalk(prog, nil, variables, fns)
	w.op = &viewer{walk: w, state: state, typed: typed}
	w.tolerant = true
	w.include = map[*object]bool{}
	for _, o := range prog.objects {
		w.include[o] = o.kind != kindProvider && o.kind != kindCheck && o.kind != kindImport && o.kind != kindList && !o.isEphemeral()
	}
	w.prepare()
	return w
}

// Eval evaluates one expression.
func (c *Console) Eval(ctx context.Context, text string) (cty.Value, tfdiags.Diagnostics) {
	src := []byte(text)
	if hclDiags := bounds.Expression(src, consoleInput); hclDiags.HasErrors() {
		return cty.DynamicVal, tfdiags.FromHCL(hclDiags)
	}
	expr, hclDiags := hclsyntax.ParseExpression(src, consoleInput, hcl.InitialPos)
	diags := tfdiags.FromHCL(hclDiags)
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	resolver := &compiler{ctx: ctx, schemas: &c.engine.pool, provisioners: c.engine.opts.Provisioners, program: c.walk.prog}
	refs := resolver.exprRefs(c.walk.prog.root, expr)
	c.walk.addFunctions(c.walk.prog.root, resolver.askedFunctions(src))
	if diags = append(diags, resolver.diags...); diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	val, moreDiags := c.walk.root.eval(expr, refs, evalOptions{})
	return val, append(diags, moreDiags...)
}

// viewer is the operation that takes objects as they are recorded.
type viewer struct {
	walk  *walk
	state *states.State
	// typed tells that what is not recorded is an unknown object of its type, and not
	// an unknown anything, unless none of several instances is recorded.
	typed bool
}

// instance implements operation.
func (v *viewer) instance(inst *instance) dag.Step {
	o := inst.object
	return dag.Step{Class: classCompute, Run: func(context.Context) (*dag.Step, bool) {
		inst.value = cty.DynamicVal
		known := inst.addr.Key == addrs.NoKey || v.state.Resource(inst.addr.Module, inst.addr.Resource) != nil
		if v.typed && known && o.schema != nil {
			inst.value = cty.UnknownVal(o.schema.Block.ImpliedType())
		}
		obj := v.state.Object(inst.addr)
		if obj == nil || o.schema == nil {
			return dag.Done()
		}
		val, err := decodeData(o.schema, obj)
		if err != nil {
			v.walk.report(tfdiags.FromError("Invalid recorded object", err).WithAddress(inst.name).Warnings())
			return dag.Done() // it counts as unknown
		}
		inst.value = lang.MarkPaths(val, append(o.schema.Block.SensitivePaths(val), obj.Sensitive...))
		return dag.Done()
	}}
}

// estimate implements operation.
func (v *viewer) estimate(*object) time.Duration { return 0 }

// expanded implements operation.
func (v *viewer) expanded(*moduleInst, *object, *instanceSet) {}

// expandedCall implements operation.
func (v *viewer) expandedCall(*moduleInst, *object, []addrs.InstanceKey) {}

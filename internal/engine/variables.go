package engine

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/lang"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// evalVariable gives a variable its value: what the caller set, or its default.
func (mi *moduleInst) evalVariable(o *object) tfdiags.Diagnostics {
	val, at, diags := mi.variableInput(o)
	if diags.HasErrors() {
		return diags
	}
	val, moreDiags := conformVariable(o.variable, val, at)
	diags = append(diags, moreDiags...)
	if diags.HasErrors() {
		return diags
	}
	if o.variable.Sensitive {
		val = val.Mark(lang.Sensitive)
	}
	mi.slots[o.local].value = val
	return append(diags, mi.validateVariable(o)...)
}

// variableInput returns the value given for a variable, NilVal if none is, and where it stands.
func (mi *moduleInst) variableInput(o *object) (cty.Value, hcl.Range, tfdiags.Diagnostics) {
	if mi.parent != nil {
		if o.argument == nil {
			return cty.NilVal, o.variable.Range, nil
		}
		val, diags := mi.parent.eval(o.argument.Expr, o.refs, evalOptions{repeat: mi.repeat})
		return val, o.argument.Expr.Range(), diags
	}
	if val, given := mi.walk.variables[o.name]; given {
		return val, o.variable.Range, nil
	}
	if mi.walk.validating() { // what is valid must not depend on defaults
		return cty.UnknownVal(o.variable.Type.WithoutOptionalAttributesDeep()), o.variable.Range, nil
	}
	if o.variable.Required() && mi.walk.tolerant {
		return cty.DynamicVal, o.variable.Range, nil
	}
	if o.variable.Required() {
		return cty.NilVal, o.variable.Range, tfdiags.At(o.variable.Range, "No value for required variable",
			fmt.Sprintf("The root module input variable %q is not set, and has no default value. Use a -var or -var-file option, a .tfvars file or the environment variable TF_VAR_%s.", o.name, o.name))
	}
	return cty.NilVal, o.variable.Range, nil
}

// conformVariable applies default, nullable, type constraint and defaults of optional attributes.
func conformVariable(v *configs.Variable, val cty.Value, at hcl.Range) (cty.Value, tfdiags.Diagnostics) {
	if val == cty.NilVal || (val.IsNull() && !v.Nullable && !v.Required()) {
		return v.Default, nil
	}
	if val.IsNull() && !v.Nullable {
		return cty.DynamicVal, tfdiags.At(at, "Required variable not set",
			fmt.Sprintf("The variable %q was set to null, which its declaration does not allow.", v.Name))
	}
	if v.TypeDefaults != nil && !val.IsNull() {
		val = v.TypeDefaults.Apply(val)
	}
	converted, err := convert.Convert(val, v.Type)
	if err != nil {
		return cty.DynamicVal, tfdiags.At(at, "Invalid value for input variable",
			fmt.Sprintf("The given value is not suitable for var.%s declared at %s: %s.", v.Name, v.Range, err))
	}
	return converted, nil
}

// validateVariable checks a variable's validation rules.
func (mi *moduleInst) validateVariable(o *object) tfdiags.Diagnostics {
	if len(o.variable.Validations) == 0 {
		return nil
	}
	hclCtx, diags := mi.evalContext(o.ruleRefs, evalOptions{})
	if diags.HasErrors() {
		return diags
	}
	return mi.evalRules(checked{object: o}, o.variable.Validations, "Invalid value for variable", hclCtx)
}

// checked is the instance that conditions belong to.
type checked struct {
	object *object
	key    addrs.InstanceKey
}

// evalRules evaluates conditions and notes their outcomes.
func (mi *moduleInst) evalRules(of checked, rules []*configs.CheckRule, summary string, hclCtx *hcl.EvalContext) tfdiags.Diagnostics {
	var diags tfdiags.Diagnostics
	var outcomes []outcome
	for _, rule := range rules {
		result, moreDiags := checkRule(rule, summary, hclCtx)
		diags = append(diags, moreDiags...)
		outcomes = append(outcomes, result)
	}
	mi.walk.checks.note(of.object, mi, of.key, outcomes)
	return diags
}

// checkRules evaluates preconditions or postconditions.
func (mi *moduleInst) checkRules(of checked, rules []*configs.CheckRule, summary string, refs []ref, opts evalOptions) tfdiags.Diagnostics {
	if len(rules) == 0 {
		return nil
	}
	hclCtx, diags := mi.evalContext(refs, opts)
	if diags.HasErrors() {
		return diags
	}
	diags = append(diags, mi.evalRules(of, rules, summary, hclCtx)...)
	if mi.walk.tolerant {
		return diags.Warnings()
	}
	return diags
}

// checkRule reports a rule that does not hold. An unknown condition is left to a later evaluation.
func checkRule(rule *configs.CheckRule, summary string, hclCtx *hcl.EvalContext) (outcome, tfdiags.Diagnostics) {
	result, hclDiags := rule.Condition.Value(hclCtx)
	diags := tfdiags.FromHCL(hclDiags)
	if hclDiags.HasErrors() {
		return outcome{status: states.CheckError}, diags
	}
	result, _ = result.Unmark()
	if !result.IsKnown() {
		return outcome{status: states.CheckUnknown}, diags
	}
	result, err := convert.Convert(result, cty.Bool)
	if err != nil || result.IsNull() {
		return outcome{status: states.CheckError}, append(diags, tfdiags.At(rule.Condition.Range(), "Invalid condition result",
			"The condition must be true or false.")...)
	}
	if result.True() {
		return outcome{status: states.CheckPass}, diags
	}
	message := ruleMessage(rule, hclCtx)
	return outcome{states.CheckFail, message}, append(diags, tfdiags.Diagnostic{
		Severity: tfdiags.Error, Summary: summary, Detail: message,
		Subject: rule.Condition.Range().Ptr(), Expression: rule.Condition, EvalContext: hclCtx,
	})
}

// ruleMessage evaluates a rule's error message.
func ruleMessage(rule *configs.CheckRule, hclCtx *hcl.EvalContext) string {
	const fallback = "The condition does not hold, and its error message cannot be shown."
	if rule.ErrorMessage == nil {
		return fallback
	}
	val, hclDiags := rule.ErrorMessage.Value(hclCtx)
	if hclDiags.HasErrors() || !val.IsKnown() || val.IsNull() {
		return fallback
	}
	if lang.ContainsSensitive(val) {
		return "The condition does not hold. Its error message is not shown, because it holds a sensitive value."
	}
	val, _ = val.Unmark()
	text, err := convert.Convert(val, cty.String)
	if err != nil || text.IsNull() {
		return fallback
	}
	return text.AsString()
}

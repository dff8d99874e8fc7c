package engine

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/lang"
	"github.com/towline/terraform-provider-towline/internal/plans"
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
	if o.variable.Ephemeral {
		val = val.Mark(lang.Ephemeral)
	} else if lang.ContainsEphemeral(val) {
		return append(diags, tfdiags.At(at, "Ephemeral value not allowed",
			fmt.Sprintf("The value comes from something ephemeral, but the variable %q of the module does not take such values. Add ephemeral = true to the variable, so that it is never kept, or pass another value.", o.name))...)
	}
	if o.variable.Sensitive {
		val = val.Mark(lang.Sensitive)
	}
	mi.slots[o.local].value = val
	mi.stays(o)
	diags = append(diags, mi.validateVariable(o, at)...)
	if mi.walk.validating() { // a module is valid or not whatever it is called with
		mi.slots[o.local].value = unknownLike(o.variable.Type, val)
	}
	return diags
}

// unknownLike is an unknown value of a variable's type with the marks of its value.
func unknownLike(ty cty.Type, val cty.Value) cty.Value {
	_, marks := val.Unmark()
	return cty.UnknownVal(ty.WithoutOptionalAttributesDeep()).WithMarks(marks)
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
		return cty.NilVal, o.variable.Range, missingVariable(o.variable)
	}
	return cty.NilVal, o.variable.Range, nil
}

func missingVariable(v *configs.Variable) tfdiags.Diagnostics {
	return tfdiags.At(v.Range, "No value for required variable",
		fmt.Sprintf("The root module input variable %q is not set, and has no default value. Use a -var or -var-file option, a .tfvars file or the environment variable TF_VAR_%s.", v.Name, v.Name))
}

// plannedVariables is what a plan keeps of the variables that it was made with.
func (p *planner) plannedVariables() map[string]plans.Variable {
	declared := p.walk.prog.root.config.Module.Variables
	out := make(map[string]plans.Variable, len(p.opts.Variables))
	for name, val := range p.opts.Variables {
		if v := declared[name]; v != nil && v.Ephemeral {
			out[name] = plans.Variable{Ephemeral: true}
			continue
		}
		out[name] = plans.Variable{Value: val}
	}
	return out
}

// appliedVariables joins the variables that a plan kept with those that must be
// given again, because none kept them.
func appliedVariables(config *configs.Config, plan *plans.Plan, given map[string]cty.Value) (map[string]cty.Value, tfdiags.Diagnostics) {
	out := make(map[string]cty.Value, len(plan.Variables))
	var diags tfdiags.Diagnostics
	for _, name := range sortedNames(plan.Variables) {
		if v := plan.Variables[name]; !v.Ephemeral {
			out[name] = v.Value
		} else if _, again := given[name]; !again {
			diags = append(diags, tfdiags.New(tfdiags.Error, "No value for required variable",
				fmt.Sprintf("The ephemeral variable %q was set when the plan was made. A plan does not keep such values, so set the variable again for the apply.", name))...)
		}
	}
	for _, name := range sortedNames(given) {
		if v := config.Module.Variables[name]; v == nil || !v.Ephemeral {
			continue
		}
		if _, planned := plan.Variables[name]; !planned {
			diags = append(diags, tfdiags.New(tfdiags.Error, "Ephemeral variable was not set during planning",
				fmt.Sprintf("The ephemeral variable %q is set for the apply, but the plan was made without it. Leave it out, or plan again with it.", name))...)
		}
		out[name] = given[name]
	}
	return out, diags
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

// validateVariable checks a variable's validation rules. What does not hold is told
// where the value comes from.
func (mi *moduleInst) validateVariable(o *object, at hcl.Range) tfdiags.Diagnostics {
	if len(o.variable.Validations) == 0 {
		return nil
	}
	hclCtx, diags := mi.evalContext(o.ruleRefs, evalOptions{})
	if diags.HasErrors() {
		return diags
	}
	diags = append(diags, mi.evalRules(checked{object: o}, o.variable.Validations, invalidVariable, hclCtx)...)
	for i := range diags {
		if diags[i].Summary == invalidVariable {
			diags[i].Subject = &at
		}
	}
	return diags
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
		if of.object.kind == kindResource && mi.walk.validating() && result.status != states.CheckError {
			moreDiags = nil // whether a configuration is valid does not depend on what it makes
		}
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
	p, planning := mi.walk.op.(*planner)
	switch {
	case mi.walk.tolerant:
		return diags.Warnings()
	case planning && p.opts.Mode == plans.RefreshOnlyMode: // nothing that could go wrong is done
		for i := range diags {
			if diags[i].Summary == summary {
				diags[i].Severity = tfdiags.Warning
			}
		}
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
	ofVariable := summary == invalidVariable
	if result.True() && ofVariable {
		return outcome{status: states.CheckPass}, diags
	}
	message, moreDiags := ruleMessage(rule, hclCtx, ofVariable)
	diags = append(diags, moreDiags...)
	if result.True() {
		return outcome{status: states.CheckPass}, diags
	}
	kept := message
	if message == hiddenMessage || message == missingMessage {
		kept = ""
	}
	return outcome{states.CheckFail, kept}, append(diags, tfdiags.Diagnostic{
		Severity: tfdiags.Error, Summary: summary, Detail: message,
		Subject: rule.Condition.Range().Ptr(), Expression: rule.Condition, EvalContext: hclCtx,
	})
}

// invalidVariable is the summary of a validation rule that does not hold.
const invalidVariable = "Invalid value for variable"

func isRuleOfVariable(d tfdiags.Diagnostic) bool { return d.Summary == invalidVariable }

// hiddenMessage stands for an error message that holds a secret. It is not kept.
const hiddenMessage = "The condition does not hold. Its error message is not shown, because it holds a sensitive value."

// missingMessage stands for an error message that nobody knows. It is not kept either.
const missingMessage = "The condition does not hold, and its error message cannot be shown."

// ruleMessage evaluates a rule's error message. One that holds a secret is not
// shown, which is told apart, so that it is noticed before the rule fails.
func ruleMessage(rule *configs.CheckRule, hclCtx *hcl.EvalContext, ofVariable bool) (string, tfdiags.Diagnostics) {
	if rule.ErrorMessage == nil {
		return missingMessage, nil
	}
	val, hclDiags := rule.ErrorMessage.Value(hclCtx)
	if hclDiags.HasErrors() || !val.IsKnown() || val.IsNull() {
		return missingMessage, nil
	}
	const advice = "so it is not shown. Leave out the references to them, or use %s() on what is no secret."
	switch at := rule.ErrorMessage.Range(); {
	case lang.ContainsSensitive(val):
		if ofVariable {
			return hiddenMessage, nil
		}
		return hiddenMessage, tfdiags.At(at, "Error message refers to sensitive values",
			"The error message of this condition refers to sensitive values, "+fmt.Sprintf(advice, "nonsensitive")).Warnings()
	case lang.ContainsEphemeral(val):
		diags := tfdiags.At(at, "Error message refers to ephemeral values",
			"The error message of this condition refers to ephemeral values, "+fmt.Sprintf(advice, "ephemeralasnull"))
		if !ofVariable {
			diags = diags.Warnings()
		}
		return "The condition does not hold. Its error message is not shown, because it holds an ephemeral value.", diags
	}
	val, _ = val.Unmark()
	text, err := convert.Convert(val, cty.String)
	if err != nil || text.IsNull() {
		return missingMessage, nil
	}
	return text.AsString(), nil
}

// CheckVariables refuses values for variables that are not declared, and missing
// ones for those that need one. [Engine.Plan] does so; it is for whoever has no
// reason any more to plan.
func CheckVariables(config *configs.Config, given map[string]cty.Value) tfdiags.Diagnostics {
	var diags tfdiags.Diagnostics
	for _, name := range sortedNames(config.Module.Variables) {
		if v := config.Module.Variables[name]; v.Required() && given[name] == cty.NilVal {
			diags = append(diags, missingVariable(v)...)
		}
	}
	for _, name := range sortedNames(given) {
		if config.Module.Variables[name] == nil {
			diags = append(diags, tfdiags.New(tfdiags.Error, "Value for undeclared variable",
				"A value was given for the variable "+name+", but the root module declares no such variable."+suggest(name, sortedNames(config.Module.Variables)))...)
		}
	}
	return diags
}

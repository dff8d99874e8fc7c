package configs

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/lang"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

var modeNames = map[addrs.ResourceMode]string{addrs.Managed: "managed", addrs.Data: "data", addrs.Ephemeral: "ephemeral"}

var lifecycleSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "create_before_destroy"}, {Name: "prevent_destroy"}, {Name: "ignore_changes"}, {Name: "replace_triggered_by"}},
	Blocks:     []hcl.BlockHeaderSchema{{Type: "precondition"}, {Type: "postcondition"}},
}

func (r *Resource) decodeLifecycle(block *hcl.Block) tfdiags.Diagnostics {
	content, hclDiags := block.Body.Content(lifecycleSchema)
	diags := tfdiags.FromHCL(hclDiags)
	for name, attr := range content.Attributes {
		if r.Addr.Mode != addrs.Managed {
			diags = append(diags, tfdiags.At(attr.NameRange, "Invalid "+modeNames[r.Addr.Mode]+" resource lifecycle argument",
				fmt.Sprintf("The lifecycle argument %q is for managed resources only: there is no other object to keep. Remove it.", name))...)
			continue
		}
		switch name {
		case "create_before_destroy":
			diags = append(diags, tfdiags.FromHCL(gohcl.DecodeExpression(attr.Expr, nil, &r.Lifecycle.CreateBeforeDestroy))...)
		case "prevent_destroy":
			diags = append(diags, tfdiags.FromHCL(gohcl.DecodeExpression(attr.Expr, nil, &r.Lifecycle.PreventDestroy))...)
		case "ignore_changes":
			diags = append(diags, r.Lifecycle.decodeIgnoreChanges(attr.Expr)...)
		case "replace_triggered_by":
			diags = append(diags, r.Lifecycle.decodeTriggers(attr.Expr)...)
		}
	}
	for _, inner := range content.Blocks {
		rule, moreDiags := decodeCheckRule(inner)
		diags = append(append(diags, moreDiags...), rule.refuseReferencesTo(r.Addr, inner.Type)...)
		if inner.Type == "precondition" {
			r.Lifecycle.Preconditions = append(r.Lifecycle.Preconditions, rule)
		} else {
			r.Lifecycle.Postconditions = append(r.Lifecycle.Postconditions, rule)
		}
	}
	return diags
}

func (l *Lifecycle) decodeIgnoreChanges(expr hcl.Expression) tfdiags.Diagnostics {
	if hcl.ExprAsKeyword(expr) == "all" {
		l.IgnoreAll = true
		return nil
	}
	exprs, hclDiags := hcl.ExprList(expr)
	diags := tfdiags.FromHCL(hclDiags)
	wildcard := slices.IndexFunc(exprs, isStar)
	for _, e := range exprs {
		if isStar(e) {
			diags = append(diags, tfdiags.At(expr.Range(), "Invalid ignore_changes wildcard",
				"All changes are ignored by ignore_changes = all, without brackets and quotes.")...)
			continue
		}
		e, moreDiags := unquoted(e, "references")
		traversal, hclDiags := hcl.RelTraversalForExpr(e)
		diags = append(append(diags, moreDiags...), tfdiags.FromHCL(hclDiags)...)
		if len(traversal) > 0 {
			l.IgnoreChanges = append(l.IgnoreChanges, traversal)
		}
	}
	if wildcard >= 0 && len(l.IgnoreChanges) > 0 {
		diags = append(diags, tfdiags.At(exprs[wildcard].Range(), "Invalid ignore_changes ruleset",
			"A wildcard stands for all attributes, so that naming others as well says nothing. Keep either the wildcard or the names.")...)
	}
	return diags
}

// isStar tells whether an expression is the text "*".
func isStar(expr hcl.Expression) bool {
	val, hclDiags := expr.Value(nil)
	return !hclDiags.HasErrors() && isText(val) && val.AsString() == "*"
}

// isText tells whether a value is a string that is there.
func isText(val cty.Value) bool { return val.IsKnown() && !val.IsNull() && val.Type() == cty.String }

func (l *Lifecycle) decodeTriggers(expr hcl.Expression) tfdiags.Diagnostics {
	exprs, hclDiags := hcl.ExprList(expr)
	diags := tfdiags.FromHCL(hclDiags)
	for _, e := range exprs {
		e, moreDiags := fromJSON(e)
		if diags = append(diags, moreDiags...); moreDiags.HasErrors() {
			continue
		}
		if diags = append(diags, checkTrigger(e)...); diags.HasErrors() {
			break
		}
		l.ReplaceTriggeredBy = append(l.ReplaceTriggeredBy, e)
	}
	return diags
}

// triggerHelp says what replace_triggered_by takes.
const triggerHelp = "Each element of replace_triggered_by is one reference to a managed resource of the same module, to an instance of one, or to an attribute. Its key can use count.index and each.key."

// checkTrigger refuses an element of replace_triggered_by that is not a reference
// to one resource.
func checkTrigger(expr hcl.Expression) tfdiags.Diagnostics {
	resources := 0
	var diags tfdiags.Diagnostics
	refs, moreDiags := lang.ExprRefs(expr)
	if moreDiags.HasErrors() {
		return moreDiags.WithSubject(expr.Range())
	}
	for _, r := range refs {
		switch {
		case r.Kind == lang.RefResource:
			resources++
		case r.Kind == lang.RefEach && r.Name != "key":
			diags = append(diags, tfdiags.At(expr.Range(), "Invalid each reference in replace_triggered_by expression", triggerHelp)...)
		case r.Kind == lang.RefCount && r.Name != "index":
			diags = append(diags, tfdiags.At(expr.Range(), "Invalid count reference in replace_triggered_by expression", triggerHelp)...)
		case r.Kind != lang.RefEach && r.Kind != lang.RefCount:
			diags = append(diags, tfdiags.At(expr.Range(), "Invalid reference in replace_triggered_by expression", triggerHelp)...)
		}
	}
	if resources != 1 && len(diags) == 0 {
		diags = append(diags, tfdiags.At(expr.Range(), "Invalid replace_triggered_by expression", triggerHelp)...)
	}
	return diags
}

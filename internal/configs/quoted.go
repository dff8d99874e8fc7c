package configs

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"

	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// unquoted reads a reference or keyword that is written in quotes, as Terraform
// before 0.12 wanted it, as if it were not, with a warning. Other expressions are
// returned as they are. What names it in the warning.
func unquoted(expr hcl.Expression, what string) (hcl.Expression, tfdiags.Diagnostics) {
	if key, ok := expr.(*hclsyntax.ObjectConsKeyExpr); ok {
		expr = key.Wrapped
	}
	template, ok := expr.(*hclsyntax.TemplateExpr)
	if !ok || !template.IsStringLiteral() {
		return expr, nil
	}
	text, hclDiags := template.Value(nil)
	if hclDiags.HasErrors() {
		return expr, nil
	}
	at := expr.Range()
	start := at.Start
	start.Column++ // past the quote
	start.Byte++
	traversal, hclDiags := hclsyntax.ParseTraversalAbs([]byte(text.AsString()), at.Filename, start)
	diags := tfdiags.FromHCL(hclDiags)
	warning := tfdiags.At(at, "Quoted "+what+" are deprecated", "What is named here is a part of the language and not text. Remove the quotes.")
	return &hclsyntax.ScopeTraversalExpr{Traversal: traversal, SrcRange: at}, append(diags, warning.Warnings()...)
}

// fromJSON reads the text of a JSON string as the expression that it holds; other
// expressions are returned as they are.
func fromJSON(expr hcl.Expression) (hcl.Expression, tfdiags.Diagnostics) {
	if !json.IsJSONExpression(expr) {
		return expr, nil
	}
	text, hclDiags := expr.Value(nil)
	if hclDiags.HasErrors() || !isText(text) {
		return expr, append(tfdiags.FromHCL(hclDiags), tfdiags.At(expr.Range(), "Invalid expression", "A string that holds an expression is needed here.")...)
	}
	at := expr.Range()
	parsed, hclDiags := hclsyntax.ParseExpression([]byte(text.AsString()), at.Filename, at.Start)
	return parsed, tfdiags.FromHCL(hclDiags)
}

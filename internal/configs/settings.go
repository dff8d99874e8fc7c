package configs

import (
	"errors"
	"fmt"
	"strings"

	"github.com/apparentlymart/go-versions/versions"
	"github.com/hashicorp/hcl/v2"
	tfaddr "github.com/hashicorp/terraform-registry-address"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

var terraformSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "required_version"}, {Name: "experiments"}, {Name: "language"}},
	Blocks: []hcl.BlockHeaderSchema{
		{Type: "required_providers"}, {Type: "backend", LabelNames: []string{"type"}}, {Type: "cloud"},
		{Type: "provider_meta", LabelNames: []string{"provider"}},
	},
}

func (m *Module) addTerraform(block *hcl.Block) tfdiags.Diagnostics {
	content, hclDiags := block.Body.Content(terraformSchema)
	diags := tfdiags.FromHCL(hclDiags)
	if attr, ok := content.Attributes["required_version"]; ok {
		text, allowed, moreDiags := constraint(attr.Expr)
		if !moreDiags.HasErrors() {
			moreDiags = checkLanguageVersion(text, allowed, attr.Range)
		}
		diags = append(diags, moreDiags...)
	}
	if attr, ok := content.Attributes["experiments"]; ok {
		diags = append(diags, tfdiags.At(attr.NameRange, "Module uses experimental features",
			"Experiments of the language are for development versions of Terraform, and their meaning can change at any time. Remove the argument.")...)
	}
	if attr, ok := content.Attributes["language"]; ok && hcl.ExprAsKeyword(attr.Expr) != languageEdition {
		diags = append(diags, tfdiags.At(attr.Expr.Range(), "Unsupported language edition",
			fmt.Sprintf("The only edition of the language is %s, which is also the default. Remove the argument.", languageEdition))...)
	}
	for _, inner := range content.Blocks {
		switch inner.Type {
		case "required_providers":
			diags = append(diags, m.addRequiredProviders(inner)...)
		case "backend":
			m.Backend = &Backend{Type: inner.Labels[0], Config: inner.Body, Range: inner.DefRange}
		case "cloud":
			diags = append(diags, tfdiags.At(inner.DefRange, "Unsupported cloud block",
				"Towline keeps state itself and does not work with HCP Terraform. Remove the cloud block, or use another backend.")...)
		case "provider_meta":
			diags = append(diags, m.addProviderMeta(inner)...)
		}
	}
	return diags
}

// languageEdition is the one edition of the language there is.
const languageEdition = "TF2021"

// constraint reads a version constraint, and which versions meet it.
func constraint(expr hcl.Expression) (string, versions.Set, tfdiags.Diagnostics) {
	invalid := func(text, why string) (string, versions.Set, tfdiags.Diagnostics) {
		return text, versions.All, tfdiags.At(expr.Range(), "Invalid version constraint", why+` A constraint looks like "~> 1.9" or ">= 1.5, < 2.0".`)
	}
	val, hclDiags := expr.Value(nil)
	if hclDiags.HasErrors() {
		return "", versions.All, tfdiags.FromHCL(hclDiags)
	}
	val, err := convert.Convert(val, cty.String)
	if err != nil || !isText(val) {
		return invalid("", "A version constraint is a text.")
	}
	text := val.AsString()
	if strings.TrimSpace(text) == "" {
		return invalid("", "The constraint is empty.")
	}
	allowed, err := versions.MeetingConstraintsStringRuby(text)
	if err != nil {
		return invalid(text, fmt.Sprintf("%q is no version constraint: %s.", text, oneLine(err.Error())))
	}
	return text, allowed, nil
}

func (m *Module) addRequiredProviders(block *hcl.Block) tfdiags.Diagnostics {
	attrs, hclDiags := block.Body.JustAttributes()
	diags := tfdiags.FromHCL(hclDiags)
	for name, attr := range attrs {
		required, moreDiags := decodeRequiredProvider(name, attr)
		diags = append(diags, moreDiags...)
		if m.RequiredProviders[name] == nil { // a second block was reported
			m.RequiredProviders[name] = required
		}
	}
	return diags
}

func decodeRequiredProvider(name string, attr *hcl.Attribute) (*RequiredProvider, tfdiags.Diagnostics) {
	required := &RequiredProvider{LocalName: name, Source: addrs.DefaultProvider(name), Range: attr.Expr.Range()}
	diags := checkProviderName(name, attr.NameRange)
	pairs, hclDiags := hcl.ExprMap(attr.Expr)
	if hclDiags.HasErrors() { // the short form: only a version constraint
		text, _, moreDiags := constraint(attr.Expr)
		required.Constraints = text
		return required, append(diags, moreDiags...)
	}
	for _, pair := range pairs {
		diags = append(diags, required.set(pair)...)
	}
	return required, diags
}

// set takes one argument of an entry.
func (r *RequiredProvider) set(pair hcl.KeyValuePair) tfdiags.Diagnostics {
	key := hcl.ExprAsKeyword(pair.Key)
	if val, hclDiags := pair.Key.Value(nil); key == "" && !hclDiags.HasErrors() && isText(val) {
		key = val.AsString()
	}
	switch key {
	case "version":
		text, _, diags := constraint(pair.Value)
		r.Constraints = text
		return diags
	case "source":
		return r.setSource(pair.Value)
	case "configuration_aliases":
		return r.setAliases(pair.Value)
	default:
		return tfdiags.At(pair.Key.Range(), "Invalid required_providers object", "An entry of required_providers may set source, version and configuration_aliases only.")
	}
}

func (r *RequiredProvider) setSource(expr hcl.Expression) tfdiags.Diagnostics {
	val, hclDiags := expr.Value(nil)
	if hclDiags.HasErrors() || !isText(val) {
		return tfdiags.At(expr.Range(), "Invalid source", "The source of a provider is a text, such as \"hashicorp/aws\".")
	}
	provider, err := addrs.ParseProviderSource(val.AsString())
	var wrong *tfaddr.ParserError
	switch {
	case errors.As(err, &wrong):
		return tfdiags.At(expr.Range(), wrong.Summary, oneLine(wrong.Detail))
	case err != nil:
		return tfdiags.At(expr.Range(), "Invalid provider source string", oneLine(err.Error()))
	}
	r.Source = provider
	return nil
}

func (r *RequiredProvider) setAliases(expr hcl.Expression) tfdiags.Diagnostics {
	exprs, hclDiags := hcl.ExprList(expr)
	diags := tfdiags.FromHCL(hclDiags)
	malformed := false
	for _, e := range exprs {
		traversal, hclDiags := hcl.AbsTraversalForExpr(e)
		diags = append(diags, tfdiags.FromHCL(hclDiags)...)
		if malformed = malformed || hclDiags.HasErrors() || len(traversal) > 2; malformed {
			continue
		}
		alias, moreDiags := decodeProviderRef(e)
		diags = append(diags, moreDiags...)
		if alias.Alias != "" {
			r.Aliases = append(r.Aliases, alias)
		}
	}
	if malformed {
		diags = append(diags, tfdiags.At(expr.Range(), "Invalid configuration_aliases value", "Each element names a configuration with its alias, such as aws.west.")...)
	}
	return diags
}

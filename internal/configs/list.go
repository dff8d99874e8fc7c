package configs

import (
	"fmt"
	"os"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// List is a list block of a query file: it asks a provider which objects of a type there
// are, managed or not.
type List struct {
	Type, Name string
	// Config is the body of the config block.
	Config         hcl.Body
	Count, ForEach hcl.Expression
	// IncludeResource and Limit are nil where they are not given.
	IncludeResource, Limit hcl.Expression
	// Provider is the provider configuration in this module's terms.
	Provider addrs.LocalProviderConfig
	// TypeRange is where the type is named, Range the block's header.
	TypeRange, Range hcl.Range
}

// Addr returns the address of the block, such as "list.aws_instance.all".
func (l *List) Addr() string { return "list." + l.Type + "." + l.Name }

// queryExtension is what the names of query files end with.
const queryExtension = ".tfquery.hcl"

// queryFileSchema is what a query file may hold: list blocks, and what they need beside
// the other files of the root module.
var queryFileSchema = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
	{Type: "list", LabelNames: []string{"type", "name"}},
	{Type: "locals"},
	{Type: "variable", LabelNames: []string{"name"}},
	{Type: "provider", LabelNames: []string{"name"}},
}}

// loadQueries reads the query files of the root module.
func (l *loader) loadQueries(m *Module, dir string) tfdiags.Diagnostics {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // which was reported
	}
	var names []string
	for _, entry := range entries {
		if !entry.IsDir() && !isHidden(entry.Name()) && strings.HasSuffix(entry.Name(), queryExtension) {
			names = append(names, entry.Name())
		}
	}
	var diags tfdiags.Diagnostics
	for _, file := range l.parseAll(dir, names) {
		diags = append(diags, file.diags...)
		if file.body == nil {
			continue
		}
		content, hclDiags := file.body.Content(queryFileSchema)
		diags = append(diags, tfdiags.FromHCL(hclDiags)...)
		for _, block := range content.Blocks {
			if block.Type == "list" {
				diags = append(diags, m.addList(block)...)
			} else {
				diags = append(diags, m.addBlock(block)...)
			}
		}
	}
	return diags
}

func (m *Module) addList(block *hcl.Block) tfdiags.Diagnostics {
	decl, diags := decodeList(block)
	return declare(diags, m.Lists, decl.Addr(), decl, func(l *List) hcl.Range { return l.Range }, fmt.Sprintf("Duplicate list %q configuration", decl.Type))
}

var listSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "provider", Required: true}, {Name: "count"}, {Name: "for_each"}, {Name: "include_resource"}, {Name: "limit"}},
	Blocks:     []hcl.BlockHeaderSchema{{Type: "config"}},
}

func decodeList(block *hcl.Block) (*List, tfdiags.Diagnostics) {
	l := &List{Type: block.Labels[0], Name: block.Labels[1], Config: &hclsyntax.Body{SrcRange: block.DefRange, EndRange: block.DefRange}, TypeRange: block.LabelRanges[0], Range: block.DefRange}
	diags := checkName("list resource", l.Type, block.LabelRanges[0])
	diags = append(diags, checkName("list", l.Name, block.LabelRanges[1])...)
	content, hclDiags := block.Body.Content(listSchema)
	diags = append(diags, tfdiags.FromHCL(hclDiags)...)
	repeat, moreDiags := decodeRepetition(content)
	diags = append(diags, moreDiags...)
	l.Count, l.ForEach = repeat.count, repeat.forEach
	for name, into := range map[string]*hcl.Expression{"include_resource": &l.IncludeResource, "limit": &l.Limit} {
		if attr := content.Attributes[name]; attr != nil {
			*into = attr.Expr
		}
	}
	l.Provider = addrs.LocalProviderConfig{LocalName: addrs.Resource{Type: l.Type}.ImpliedProvider()}
	if attr := content.Attributes["provider"]; attr != nil {
		l.Provider, moreDiags = decodeProviderRef(attr.Expr)
		diags = append(diags, moreDiags...)
	}
	for i, inner := range content.Blocks {
		if i > 0 {
			diags = append(diags, tfdiags.At(inner.DefRange, "Duplicate config block",
				fmt.Sprintf("A list block can have one config block, and it has one at %s already. Join the two.", content.Blocks[0].DefRange))...)
			continue
		}
		l.Config = inner.Body
	}
	return l, diags
}

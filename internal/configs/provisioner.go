package configs

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// Provisioner is a provisioner block: an action around the creation or the
// destruction of an object.
type Provisioner struct {
	Type string
	// Config is the body without the meta-arguments.
	Config hcl.Body
	// Connection says how to reach the machine, with the arguments of the resource's
	// connection block below those of the provisioner's own; nil if there is none.
	Connection hcl.Body
	// Destroy tells that it runs before the object is destroyed, not after it was created.
	Destroy bool
	// Continue tells that its failure is no failure of the resource.
	Continue bool
	// Range is the block's header.
	Range hcl.Range
}

var provisionerSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "when"}, {Name: "on_failure"}},
	Blocks:     []hcl.BlockHeaderSchema{{Type: "connection"}, {Type: "lifecycle"}, {Type: escapeBlock}},
}

// removedProvisioners are types that Terraform once had.
var removedProvisioners = []string{"chef", "habitat", "puppet", "salt-masterless"}

// decodeProvisioners reads the provisioner and connection blocks among a
// resource's blocks. owner names what holds them in messages.
func decodeProvisioners(blocks hcl.Blocks, owner string) ([]*Provisioner, tfdiags.Diagnostics) {
	connection, diags := onlyConnection(blocks, owner)
	var out []*Provisioner
	for _, block := range blocks {
		if block.Type != "provisioner" {
			continue
		}
		p, moreDiags := decodeProvisioner(block)
		diags = append(diags, moreDiags...)
		if p.Destroy {
			diags = append(diags, onlySelf(p.Config)...)
			diags = append(diags, onlySelf(p.Connection)...)
		}
		switch {
		case p.Connection == nil:
			p.Connection = connection
		case connection != nil:
			p.Connection = overlay{base: connection, over: p.Connection}
		}
		out = append(out, p)
	}
	if slices.ContainsFunc(out, func(p *Provisioner) bool { return p.Destroy }) {
		diags = append(diags, onlySelf(connection)...)
	}
	return out, diags
}

func decodeProvisioner(block *hcl.Block) (*Provisioner, tfdiags.Diagnostics) {
	p := &Provisioner{Type: block.Labels[0], Range: block.DefRange}
	if slices.Contains(removedProvisioners, p.Type) {
		p.Config = hcl.EmptyBody()
		return p, tfdiags.At(block.LabelRanges[0], fmt.Sprintf("The %q provisioner has been removed", p.Type),
			"Neither Terraform nor Towline runs it any more. Use local-exec, remote-exec or file, or prepare the machine's image instead.")
	}
	content, remain, hclDiags := block.Body.PartialContent(provisionerSchema)
	body, diags := reserved(remain, content.Blocks, "provisioner", "lifecycle")
	diags = append(tfdiags.FromHCL(hclDiags), diags...)
	p.Config = body
	if attr, ok := content.Attributes["when"]; ok {
		word, moreDiags := keyword(attr, "create", "destroy")
		diags = append(diags, moreDiags...)
		p.Destroy = word == "destroy"
	}
	if attr, ok := content.Attributes["on_failure"]; ok {
		word, moreDiags := keyword(attr, "continue", "fail")
		diags = append(diags, moreDiags...)
		p.Continue = word == "continue"
	}
	connection, moreDiags := onlyConnection(content.Blocks, "provisioner")
	p.Connection = connection
	return p, append(diags, moreDiags...)
}

// keyword reads an argument that is one of two words, quoted or not.
func keyword(attr *hcl.Attribute, words ...string) (string, tfdiags.Diagnostics) {
	expr, diags := unquoted(attr.Expr, "keywords")
	word := hcl.ExprAsKeyword(expr)
	if !slices.Contains(words, word) {
		return "", append(diags, tfdiags.At(attr.Expr.Range(), fmt.Sprintf("Invalid %q keyword", attr.Name),
			fmt.Sprintf("The %q argument is one of these words: %s or %s.", attr.Name, words[0], words[1]))...)
	}
	return word, diags
}

// onlyConnection returns the body of the one connection block, or nil.
func onlyConnection(blocks hcl.Blocks, owner string) (hcl.Body, tfdiags.Diagnostics) {
	var first *hcl.Block
	var diags tfdiags.Diagnostics
	for _, block := range blocks {
		switch {
		case block.Type != "connection":
		case first == nil:
			first = block
		default:
			diags = append(diags, tfdiags.At(block.DefRange, "Duplicate connection block",
				fmt.Sprintf("This %s already has a connection block at %s. Join the two.", owner, first.DefRange))...)
		}
	}
	if first == nil {
		return nil, diags
	}
	return first.Body, diags
}

// onlySelf refuses references that cannot be resolved any more when an object is
// destroyed.
func onlySelf(body hcl.Body) tfdiags.Diagnostics {
	if body == nil {
		return nil
	}
	// What is no argument is reported where the body is decoded by its schema.
	attrs, _ := body.JustAttributes()
	var diags tfdiags.Diagnostics
	for _, attr := range attrs {
		for _, traversal := range attr.Expr.Variables() {
			if !aboutItself(traversal) {
				diags = append(diags, tfdiags.At(attr.Expr.Range(), "Invalid reference from destroy provisioner",
					"When an object is destroyed, what it was made from may be gone already. A provisioner with when = destroy, and its connection, can refer to self, count.index, each.key, path and terraform only. Keep what it needs in the object itself, for example in triggers or tags.")...)
				break
			}
		}
	}
	return diags
}

// aboutItself tells whether a reference is to the object, to its own key or to what
// does not change while the program runs.
func aboutItself(traversal hcl.Traversal) bool {
	switch traversal.RootName() {
	case "self", "path", "terraform":
		return true
	}
	if len(traversal) < 2 {
		return false
	}
	step, ok := traversal[1].(hcl.TraverseAttr)
	return ok && (traversal.RootName() == "count" && step.Name == "index" || traversal.RootName() == "each" && step.Name == "key")
}

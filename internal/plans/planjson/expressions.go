package planjson

import (
	"encoding/json"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/providers"
)

// expression is an argument's expression: its value if it is constant, else what it refers to.
type expression struct {
	ConstantValue json.RawMessage `json:"constant_value,omitempty"`
	References    []string        `json:"references,omitempty"`
}

func (e *expression) empty() bool {
	return e == nil || (e.ConstantValue == nil && e.References == nil)
}

// encodeExpression describes an expression; nil stays nil. One that neither is
// constant nor refers to anything, as a function's result, has no content.
func encodeExpression(expr hcl.Expression) *expression {
	if expr == nil {
		return nil
	}
	out := &expression{}
	if val, diags := expr.Value(nil); !diags.HasErrors() && val != cty.NilVal && val.IsWhollyKnown() {
		val, _ = val.UnmarkDeep()
		if encoded, err := ctyjson.Marshal(val, val.Type()); err == nil {
			out.ConstantValue = encoded
		}
	}
	for _, traversal := range expr.Variables() {
		out.References = append(out.References, references(traversal)...)
	}
	return out
}

// references lists what one traversal refers to, from the whole traversal down
// to the object as a whole, so that readers need no parser to find an object.
func references(traversal hcl.Traversal) []string {
	subject, whole := subjectOf(traversal)
	if subject == 0 {
		return nil
	}
	var out []string
	for n := len(traversal); n > subject; n-- {
		out = append(out, traversalText(traversal[:n]))
	}
	out = append(out, traversalText(traversal[:subject]))
	if whole < subject {
		out = append(out, traversalText(traversal[:whole]))
	}
	return out
}

// subjectOf returns how many steps name the object that a traversal refers to,
// and how many name it without its instance key or output name. 0 means that the
// traversal refers to no object.
func subjectOf(traversal hcl.Traversal) (subject, whole int) {
	isIndex := func(i int) bool {
		if i >= len(traversal) {
			return false
		}
		_, ok := traversal[i].(hcl.TraverseIndex)
		return ok
	}
	n := 2
	switch traversal.RootName() {
	case "self":
		return 1, 1
	case "data", "ephemeral", "resource":
		n = 3
	case "var", "local", "count", "each", "path", "terraform":
		return min(2, len(traversal)), 2
	case "module":
		return moduleSubject(traversal, isIndex)
	}
	if len(traversal) < n {
		return 0, 0
	}
	if isIndex(n) {
		return n + 1, n
	}
	return n, n
}

func moduleSubject(traversal hcl.Traversal, isIndex func(int) bool) (subject, whole int) {
	if len(traversal) < 2 {
		return 0, 0
	}
	call := 2
	if isIndex(2) {
		call = 3
	}
	if call < len(traversal) {
		if _, ok := traversal[call].(hcl.TraverseAttr); ok {
			return call + 1, call
		}
	}
	return call, 2
}

// traversalText writes a traversal as in configuration.
func traversalText(traversal hcl.Traversal) string {
	var b strings.Builder
	for _, step := range traversal {
		switch step := step.(type) {
		case hcl.TraverseRoot:
			b.WriteString(step.Name)
		case hcl.TraverseAttr:
			b.WriteString("." + step.Name)
		case hcl.TraverseIndex:
			b.WriteString(indexText(step.Key))
		}
	}
	return b.String()
}

func indexText(key cty.Value) string {
	if parsed, ok := addrs.ParseInstanceKey(key); ok {
		return parsed.String()
	}
	if key.Type() == cty.Number && key.IsKnown() && !key.IsNull() {
		return "[" + key.AsBigFloat().Text('f', -1) + "]"
	}
	return "[...]"
}

// expressions describes a body by its schema: arguments by name, also those that
// are written as blocks, and blocks by type. Dynamic blocks are not described, as
// in Terraform.
func expressions(body hcl.Body, schema *providers.Block) map[string]any {
	if body == nil || schema == nil {
		return nil
	}
	written := providers.BlocksAsAttributes(body, schema)
	content, _, _ := written.PartialContent(bodySchema(schema)) // problems were reported when the plan was made
	out := map[string]any{}
	for name, attr := range content.Attributes {
		out[name] = encodeExpression(attr.Expr)
	}
	for _, block := range content.Blocks {
		nested := schema.BlockTypes[block.Type]
		inner := expressions(block.Body, &nested.Block)
		if inner == nil {
			inner = map[string]any{}
		}
		switch nested.Nesting {
		case providers.NestingMap:
			blocks, _ := out[block.Type].(map[string]any)
			if blocks == nil {
				blocks = map[string]any{}
			}
			blocks[block.Labels[0]] = inner
			out[block.Type] = blocks
		case providers.NestingList, providers.NestingSet:
			blocks, _ := out[block.Type].([]any)
			out[block.Type] = append(blocks, inner)
		default:
			out[block.Type] = inner
		}
	}
	return out
}

// bodySchema is what HCL must know to split a body into arguments and blocks.
func bodySchema(schema *providers.Block) *hcl.BodySchema {
	out := &hcl.BodySchema{}
	for name := range schema.Attributes {
		out.Attributes = append(out.Attributes, hcl.AttributeSchema{Name: name})
	}
	for name, nested := range schema.BlockTypes {
		header := hcl.BlockHeaderSchema{Type: name}
		if nested.Nesting == providers.NestingMap {
			header.LabelNames = []string{"key"}
		}
		out.Blocks = append(out.Blocks, header)
	}
	return out
}

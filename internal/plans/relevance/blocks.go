package relevance

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/providers"
)

// pathRefs follows the arguments below bodies that a path selects. Where the
// path says too little to choose, everything it may mean is followed.
func (f *finder) pathRefs(module addrs.ModuleInstance, bodies []hcl.Body, schema *providers.Block, path hcl.Traversal) {
	name, ok := stepName(path)
	if !ok {
		for _, body := range bodies {
			f.bodyRefs(module, body, schema)
		}
		return
	}
	if schema.Attributes[name] != nil {
		for _, body := range bodies {
			content, _, _ := body.PartialContent(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: name}}})
			if attr := content.Attributes[name]; attr != nil {
				f.exprRefs(module, attr.Expr)
			}
		}
		return
	}
	nested := schema.BlockTypes[name]
	if nested == nil {
		return
	}
	blocks, rest := selectBlocks(bodies, name, nested.Nesting, path[1:])
	var inner []hcl.Body
	for _, block := range blocks {
		inner = append(inner, f.blockBody(module, block)...)
	}
	if len(inner) > 0 {
		f.pathRefs(module, inner, &nested.Block, rest)
	}
}

// stepName returns the name that a path begins with.
func stepName(path hcl.Traversal) (string, bool) {
	if len(path) == 0 {
		return "", false
	}
	switch step := path[0].(type) {
	case hcl.TraverseAttr:
		return step.Name, true
	case hcl.TraverseIndex:
		return textKey(step.Key)
	default:
		return "", false
	}
}

func textKey(key cty.Value) (string, bool) {
	parsed, ok := addrs.ParseInstanceKey(key)
	if !ok {
		return "", false
	}
	return parsed.Text()
}

// selectBlocks returns the blocks of a type that the rest of a path may mean, and
// what remains of it.
func selectBlocks(bodies []hcl.Body, name string, nesting providers.NestingMode, rest hcl.Traversal) ([]*hcl.Block, hcl.Traversal) {
	var labels []string
	if nesting == providers.NestingMap {
		labels = []string{"key"}
	}
	blocks := blocksOf(bodies, name, labels)
	if nesting == providers.NestingSingle || nesting == providers.NestingGroup || len(rest) == 0 {
		return blocks, rest
	}
	switch nesting {
	case providers.NestingList:
		index, ok := rest[0].(hcl.TraverseIndex)
		if !ok {
			return nil, nil
		}
		return blockAt(blocks, index.Key), rest[1:]
	case providers.NestingMap:
		key, ok := stepName(rest)
		if !ok {
			return blocks, rest[1:]
		}
		return labelled(blocks, key), rest[1:]
	default: // elements of sets cannot be named
		return nil, nil
	}
}

// blocksOf returns the blocks of a type, dynamic ones included, in their order.
func blocksOf(bodies []hcl.Body, name string, labels []string) []*hcl.Block {
	var out []*hcl.Block
	for _, body := range bodies {
		content, _, _ := body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
			{Type: name, LabelNames: labels}, {Type: "dynamic", LabelNames: []string{"type"}},
		}})
		for _, block := range content.Blocks {
			if block.Type == name || block.Labels[0] == name {
				out = append(out, block)
			}
		}
	}
	return out
}

// blockAt returns the block at an index. From a dynamic block on, places are not
// known, so all that follow are returned.
func blockAt(blocks []*hcl.Block, key cty.Value) []*hcl.Block {
	parsed, ok := addrs.ParseInstanceKey(key)
	if !ok {
		return blocks
	}
	index, ok := parsed.Int()
	if !ok {
		return nil
	}
	for i, block := range blocks {
		switch {
		case block.Type == "dynamic":
			return blocks[i:]
		case i == index:
			return blocks[i : i+1]
		}
	}
	return nil
}

func labelled(blocks []*hcl.Block, key string) []*hcl.Block {
	var out []*hcl.Block
	for _, block := range blocks {
		if block.Type == "dynamic" || block.Labels[0] == key {
			out = append(out, block)
		}
	}
	return out
}

// blockBody returns the body of a block; of a dynamic one that of its content,
// after following what decides how often it is repeated.
func (f *finder) blockBody(module addrs.ModuleInstance, block *hcl.Block) []hcl.Body {
	if block.Type != "dynamic" {
		return []hcl.Body{block.Body}
	}
	content, _, _ := block.Body.PartialContent(&hcl.BodySchema{
		Attributes: []hcl.AttributeSchema{{Name: "for_each"}, {Name: "labels"}},
		Blocks:     []hcl.BlockHeaderSchema{{Type: "content"}},
	})
	for _, attr := range content.Attributes {
		f.exprRefs(module, attr.Expr)
	}
	var out []hcl.Body
	for _, inner := range content.Blocks {
		out = append(out, inner.Body)
	}
	return out
}

package lang

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// RefKind says what a reference points at.
type RefKind uint8

// The kinds of references.
const (
	RefVariable  RefKind = iota // var.name
	RefLocal                    // local.name
	RefModule                   // module.name, module.name.output
	RefResource                 // type.name, data.type.name
	RefCount                    // count.index
	RefEach                     // each.key, each.value
	RefPath                     // path.module, path.root, path.cwd
	RefTerraform                // terraform.workspace, terraform.applying
	RefSelf                     // self
)

// KeyKind says how much an expression tells about the instance it refers to.
type KeyKind uint8

// The kinds of keys.
const (
	KeyWhole   KeyKind = iota // all instances
	KeyLiteral                // a[0], a["x"]
	KeyCount                  // a[count.index]
	KeyEach                   // a[each.key]
)

// Ref is one reference inside an expression.
type Ref struct {
	Kind RefKind
	// Name is the variable, local, module call, or the attribute of count, each, path and terraform.
	Name string
	// Output is the output named behind a module, or "" for all of them, and
	// OutputRange where it is named.
	Output      string
	OutputRange hcl.Range
	// Resource is set for RefResource.
	Resource addrs.Resource
	// Key and Literal say which instance of a resource or module is meant.
	Key     KeyKind
	Literal addrs.InstanceKey
	// Range is where the object is named, without Path.
	Range hcl.Range
	// Path is what follows the object: attributes and indices that the expression spells out.
	Path hcl.Traversal
}

// ExprRefs returns the references of an expression.
func ExprRefs(expr hcl.Expression) ([]Ref, tfdiags.Diagnostics) {
	if expr == nil {
		return nil, nil
	}
	keys := indexKeys{}
	if node, ok := expr.(hclsyntax.Node); ok {
		keys.collect(node)
	}
	return traversalRefs(expr.Variables(), keys)
}

// BodyRefs classifies the traversals found in a body, which the caller takes
// from the body and the schema it will be decoded with.
func BodyRefs(body hcl.Body, traversals []hcl.Traversal) ([]Ref, tfdiags.Diagnostics) {
	keys := indexKeys{}
	if syntaxBody, ok := body.(*hclsyntax.Body); ok {
		keys.collect(syntaxBody)
	}
	return traversalRefs(traversals, keys)
}

// TraversalRefs returns the references of bare traversals, as in depends_on.
func TraversalRefs(traversals []hcl.Traversal) ([]Ref, tfdiags.Diagnostics) {
	return traversalRefs(traversals, nil)
}

func traversalRefs(traversals []hcl.Traversal, keys indexKeys) ([]Ref, tfdiags.Diagnostics) {
	var diags tfdiags.Diagnostics
	refs := make([]Ref, 0, len(traversals))
	for _, traversal := range traversals {
		ref, moreDiags := parseRef(traversal)
		diags = append(diags, moreDiags...)
		if moreDiags.HasErrors() {
			continue
		}
		if key, ok := keys[rangeID(traversal.SourceRange())]; ok && ref.Key == KeyWhole && len(ref.Path) == 0 {
			ref.Key, ref.Literal = key.kind, key.literal
		}
		ref.Range = hcl.RangeBetween(traversal[0].SourceRange(), traversal[len(traversal)-len(ref.Path)-1].SourceRange())
		refs = append(refs, ref)
	}
	return refs, diags
}

// parseRef classifies one traversal.
func parseRef(traversal hcl.Traversal) (Ref, tfdiags.Diagnostics) {
	root := traversal.RootName()
	ref := Ref{Range: traversal.SourceRange()}
	switch root {
	case "var", "local", "count", "each", "path", "terraform":
		name, ok := attrName(traversal, 1)
		if !ok {
			return ref, tfdiags.At(ref.Range, "Invalid reference",
				fmt.Sprintf("The %q object cannot be used by itself: name one of its attributes after a dot.", root))
		}
		ref.Kind = map[string]RefKind{"var": RefVariable, "local": RefLocal, "count": RefCount, "each": RefEach, "path": RefPath, "terraform": RefTerraform}[root]
		ref.Name, ref.Path = name, traversal[2:]
		return ref, checkFixedAttr(ref, root)
	case "self":
		ref.Kind, ref.Path = RefSelf, traversal[1:]
		return ref, nil
	case "module":
		return parseModuleRef(ref, traversal)
	case "data":
		return parseResourceRef(ref, addrs.Data, traversal[1:])
	case "ephemeral":
		return parseResourceRef(ref, addrs.Ephemeral, traversal[1:])
	case "resource":
		return parseResourceRef(ref, addrs.Managed, traversal[1:])
	default:
		return parseResourceRef(ref, addrs.Managed, traversal)
	}
}

// checkFixedAttr refuses attributes that count, each, path and terraform do not have.
func checkFixedAttr(ref Ref, root string) tfdiags.Diagnostics {
	known := map[string][]string{
		"count": {"index"}, "each": {"key", "value"},
		"path": {"module", "root", "cwd"}, "terraform": {"workspace", "env", "applying"},
	}[root]
	if known == nil {
		return nil
	}
	for _, name := range known {
		if ref.Name == name {
			return nil
		}
	}
	summary := fmt.Sprintf("Invalid %q attribute", root)
	return tfdiags.At(ref.Range, summary, fmt.Sprintf("The %q object has no attribute %q. It has: %v.", root, ref.Name, known))
}

func parseModuleRef(ref Ref, traversal hcl.Traversal) (Ref, tfdiags.Diagnostics) {
	name, ok := attrName(traversal, 1)
	if !ok {
		return ref, tfdiags.At(ref.Range, "Invalid reference", `The "module" object cannot be used by itself: name a module call after a dot.`)
	}
	ref.Kind, ref.Name = RefModule, name
	rest := traversal[2:]
	rest = ref.takeKey(rest)
	if output, ok := attrName(rest, 0); ok {
		ref.Output, ref.OutputRange, rest = output, rest[0].SourceRange(), rest[1:]
	}
	ref.Path = rest
	return ref, nil
}

func parseResourceRef(ref Ref, mode addrs.ResourceMode, rest hcl.Traversal) (Ref, tfdiags.Diagnostics) {
	typeName, okType := stepText(rest, 0)
	name, okName := attrName(rest, 1)
	if !okType || !okName {
		return ref, tfdiags.At(ref.Range, "Invalid reference",
			"A reference to a resource type must be followed by at least one attribute access, specifying the resource name.")
	}
	ref.Kind = RefResource
	ref.Resource = addrs.Resource{Mode: mode, Type: typeName, Name: name}
	ref.Path = ref.takeKey(rest[2:])
	return ref, nil
}

// takeKey takes a literal instance key off the front of a traversal.
func (r *Ref) takeKey(rest hcl.Traversal) hcl.Traversal {
	if len(rest) == 0 {
		return rest
	}
	index, ok := rest[0].(hcl.TraverseIndex)
	if !ok {
		return rest
	}
	key, ok := addrs.ParseInstanceKey(index.Key)
	if !ok {
		return rest
	}
	r.Key, r.Literal = KeyLiteral, key
	return rest[1:]
}

func attrName(traversal hcl.Traversal, i int) (string, bool) {
	if i >= len(traversal) {
		return "", false
	}
	attr, ok := traversal[i].(hcl.TraverseAttr)
	return attr.Name, ok
}

func stepText(traversal hcl.Traversal, i int) (string, bool) {
	if i < len(traversal) {
		if root, ok := traversal[i].(hcl.TraverseRoot); ok {
			return root.Name, true
		}
	}
	return attrName(traversal, i)
}

// indexKeys tells, for a traversal at the given range, by which key the
// expression around it indexes the whole value: `a` in `a[count.index]`.
type indexKeys map[[2]int]indexKey

type indexKey struct {
	kind    KeyKind
	literal addrs.InstanceKey
}

func rangeID(r hcl.Range) [2]int { return [2]int{r.Start.Byte, r.End.Byte} }

// collect finds the index expressions below a node. If any inner scope gives
// count or each another meaning, nothing is concluded from them.
func (k indexKeys) collect(node hclsyntax.Node) {
	shadowed := false
	var found []*hclsyntax.IndexExpr
	_ = hclsyntax.VisitAll(node, func(n hclsyntax.Node) hcl.Diagnostics {
		switch n := n.(type) {
		case *hclsyntax.ForExpr:
			for _, name := range []string{n.KeyVar, n.ValVar} {
				shadowed = shadowed || name == "count" || name == "each"
			}
		case *hclsyntax.Block:
			if n.Type == "dynamic" {
				iterator := n.Body.Attributes["iterator"]
				shadowed = shadowed || (len(n.Labels) > 0 && (n.Labels[0] == "count" || n.Labels[0] == "each")) ||
					(iterator != nil && (hcl.ExprAsKeyword(iterator.Expr) == "count" || hcl.ExprAsKeyword(iterator.Expr) == "each"))
			}
		case *hclsyntax.IndexExpr:
			found = append(found, n)
		}
		return nil
	})
	if shadowed {
		return
	}
	for _, n := range found {
		collection, ok := n.Collection.(*hclsyntax.ScopeTraversalExpr)
		if !ok {
			continue
		}
		key, ok := n.Key.(*hclsyntax.ScopeTraversalExpr)
		if !ok || len(key.Traversal) != 2 {
			continue
		}
		attr, _ := attrName(key.Traversal, 1)
		switch root := key.Traversal.RootName(); {
		case root == "count" && attr == "index":
			k[rangeID(collection.Range())] = indexKey{kind: KeyCount}
		case root == "each" && attr == "key":
			k[rangeID(collection.Range())] = indexKey{kind: KeyEach}
		}
	}
}

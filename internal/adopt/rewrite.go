package adopt

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// edit replaces bytes of a file.
type edit struct {
	start, end int
	text       string
}

// change is what is done to a file for the sake of some drift: all of its edits or none.
type change struct {
	drift []Drift
	file  string
	edits []edit
}

// Rewrite returns the new content of the files that have to change for the
// configuration to declare what drifted, by name. What cannot be expressed is an
// error that says why and where; the rest is done all the same.
func Rewrite(config *configs.Config, drift []Drift) (map[string][]byte, tfdiags.Diagnostics) {
	w := &rewriter{config: config, files: map[string]*hcl.File{}, paired: map[hclsyntax.Node]bool{}}
	for _, d := range drift {
		w.adopt(d)
	}
	w.settle()
	files := w.apply()
	return files, w.diags
}

type rewriter struct {
	config *configs.Config
	files  map[string]*hcl.File
	// changes are made when all are known.
	changes []change
	// insertions become changes when all are known.
	insertions []*insertion
	// paired tells of lists, and of the first of several blocks, that were looked at
	// whether their elements stand where the plan has them.
	paired map[hclsyntax.Node]bool
	diags  tfdiags.Diagnostics
}

func (w *rewriter) refuse(d Drift, at *hcl.Range, summary, detail string) {
	diags := tfdiags.New(tfdiags.Error, summary, detail).WithAddress(d.Addr.String())
	if at != nil {
		diags = diags.WithSubject(*at)
	}
	w.diags = append(w.diags, diags...)
}

func (w *rewriter) adopt(d Drift) {
	module := w.config.Descendent(d.Addr.Module.Module())
	var resource *configs.Resource
	if module != nil {
		resource = module.Module.Resources[d.Addr.Resource]
	}
	if resource == nil {
		w.refuse(d, nil, "Resource is not declared", fmt.Sprintf("The configuration has no block for %s, so that there is nothing to change.", d.Addr))
		return
	}
	block := w.block(resource)
	switch {
	case block == nil:
		w.refuse(d, &resource.Range, "Configuration cannot be changed", fmt.Sprintf("%s is declared in JSON, or in a way that is not understood here. Change it by hand.", d.Addr))
	case resource.Overridden():
		w.refuse(d, &resource.Range, "Configuration cannot be changed", fmt.Sprintf("What an override file says of %s takes the place of what its block says. Change %s by hand, in one of the two.", d.Addr, d.Name()))
	case resource.Count != nil || resource.ForEach != nil:
		w.refuse(d, &resource.Range, "Block declares several instances", fmt.Sprintf("What is written in this block holds for all its instances, and only %s differs. Change what count or for_each is made of, or move the instance to a block of its own.", d.Name()))
	case d.Addr.Module.String() != "" && d.Addr.Module.Module().String() != d.Addr.Module.String():
		w.refuse(d, &resource.Range, "Block declares several instances", fmt.Sprintf("Its module is called several times, and only %s differs. Make the value an argument of the module.", d.Name()))
	case d.Deleted:
		w.remove(d, module, block)
	default:
		w.attribute(d, module, block.Body, block, d.Path)
	}
}

// block finds the text of a resource block.
func (w *rewriter) block(resource *configs.Resource) *hclsyntax.Block {
	name := resource.Range.Filename
	file := w.files[name]
	if file == nil {
		if strings.HasSuffix(name, ".json") {
			return nil
		}
		parsed, diags := hclsyntax.ParseConfig(w.config.Root.Sources[name], name, hcl.InitialPos)
		if diags.HasErrors() {
			return nil
		}
		file = parsed
		w.files[name] = file
	}
	body, ok := file.Body.(*hclsyntax.Body)
	if !ok {
		return nil
	}
	for _, block := range body.Blocks {
		if block.Type == "resource" && slices.Equal(block.Labels, []string{resource.Addr.Type, resource.Addr.Name}) {
			return block
		}
	}
	return nil
}

// attribute goes into a block's body along a path.
func (w *rewriter) attribute(d Drift, module *configs.Config, body *hclsyntax.Body, block *hclsyntax.Block, path []any) {
	if len(path) == 0 {
		w.refuse(d, block.DefRange().Ptr(), "Blocks cannot be adopted", fmt.Sprintf("%s differs as a whole: there are more or fewer blocks than declared, or they have no order. Write the blocks by hand as they are in reality.", d.Name()))
		return
	}
	name, _ := path[0].(string)
	if attr := body.Attributes[name]; attr != nil {
		w.expression(d, module, attr, attr.Expr, path[1:])
		return
	}
	blocks := slices.DeleteFunc(slices.Clone(body.Blocks), func(b *hclsyntax.Block) bool { return b.Type != name })
	dynamic := slices.IndexFunc(body.Blocks, func(b *hclsyntax.Block) bool { return b.Type == "dynamic" && len(b.Labels) == 1 && b.Labels[0] == name })
	switch {
	case dynamic >= 0:
		w.refuse(d, body.Blocks[dynamic].DefRange().Ptr(), "Value comes from elsewhere", fmt.Sprintf("%s is made by a dynamic block. Change what its for_each is made of.%s", d.Name(), w.saying(d)))
	case len(blocks) > 0:
		w.nested(d, module, block, blocks, path[1:])
	case len(path) > 1:
		w.refuse(d, block.DefRange().Ptr(), "Value is not declared", fmt.Sprintf("The block says nothing of %s. Write the whole of it by hand.%s", d.Name(), w.saying(d)))
	case d.Value.IsNull():
		w.refuse(d, block.DefRange().Ptr(), "Value is not declared", fmt.Sprintf("%s has no value in reality, and the block gives it none. The provider chooses one.", d.Name()))
	default:
		w.insert(d, block, name)
	}
}

// nested goes into one of the blocks of a name.
func (w *rewriter) nested(d Drift, module *configs.Config, outer *hclsyntax.Block, blocks []*hclsyntax.Block, path []any) {
	l, ok := d.listAt(len(d.Path) - len(path))
	if !ok {
		w.attribute(d, module, blocks[0].Body, blocks[0], path)
		return
	}
	switch paired, seen := w.isPaired(blocks[0], blockElements(blocks), l.want); {
	case paired:
		i, _ := path[0].(int) // a list is where a place in it is next
		w.attribute(d, module, blocks[i].Body, blocks[i], path[1:])
	case !seen:
		w.attribute(d.whole(l), module, outer.Body, outer, nil)
	}
}

// saying tells the real value, if it may be told.
func (w *rewriter) saying(d Drift) string {
	if d.Sensitive || d.Value == cty.NilVal {
		return ""
	}
	return " The real value is " + text(d.Value) + "."
}

func text(v cty.Value) string { return string(tokens(v).Bytes()) }

// tokens writes a value. The names in it are quoted where an object needs that.
func tokens(v cty.Value) hclwrite.Tokens {
	switch {
	case v.IsNull() || !v.CanIterateElements():
		return hclwrite.TokensForValue(v)
	case v.Type().IsTupleType():
		var items []hclwrite.Tokens
		for _, item := range v.Elements() {
			items = append(items, tokens(item))
		}
		return hclwrite.TokensForTuple(items)
	}
	var attrs []hclwrite.ObjectAttrTokens
	for key, item := range v.Elements() {
		attrs = append(attrs, hclwrite.ObjectAttrTokens{Name: hclwrite.TokensForIdentifier(keyText(key.AsString())), Value: tokens(item)})
	}
	return hclwrite.TokensForObject(attrs)
}

// keyText writes a name of an element of an object, in which "for" begins an expression.
func keyText(name string) string {
	if isName(name) && name != "for" {
		return name
	}
	return string(hclwrite.TokensForValue(cty.StringVal(name)).Bytes())
}

// expression goes into an expression along a path, and replaces what it leads to.
func (w *rewriter) expression(d Drift, module *configs.Config, attr *hclsyntax.Attribute, expr hclsyntax.Expression, path []any) {
	if len(path) > 0 {
		if w.unordered(d, module, attr, expr, len(d.Path)-len(path)) {
			return
		}
		if inner := element(expr, path[0]); inner != nil {
			w.expression(d, module, attr, inner, path[1:])
			return
		}
		if object, ok := expr.(*hclsyntax.ObjectConsExpr); ok && len(path) == 1 && !d.Value.IsNull() {
			w.insertItem(d, module, object, path[0])
			return
		}
		if isConstant(expr) {
			w.refuse(d, expr.Range().Ptr(), "Value is not declared", fmt.Sprintf("The expression has nothing at %s. Write it by hand.%s", d.Name(), w.saying(d)))
			return
		}
	}
	switch {
	case !isConstant(expr):
		w.pointAt(d, module, expr)
	case d.Sensitive:
		w.refuse(d, expr.Range().Ptr(), "Value is sensitive", fmt.Sprintf("The real value of %s is not written into configuration, because everybody who reads it would see it. Use a variable.", d.Name()))
	case d.Value.IsNull() && attr.Expr == expr:
		w.change(d, attr.SrcRange.Filename, w.line(attr.SrcRange))
	default:
		w.replace(d, expr.Range(), indented(text(d.Value), w.indentation(attr.SrcRange)))
	}
}

// element is the expression of one element of a list or an object, or nil.
func element(expr hclsyntax.Expression, step any) hclsyntax.Expression {
	switch expr := expr.(type) {
	case *hclsyntax.TupleConsExpr:
		if i, ok := step.(int); ok && i < len(expr.Exprs) {
			return expr.Exprs[i]
		}
	case *hclsyntax.ObjectConsExpr:
		for _, item := range slices.Backward(expr.Items) { // the last of a name counts
			if name, ok := keyOf(item); ok && name == step {
				return item.ValueExpr
			}
		}
	case *hclsyntax.ParenthesesExpr:
		return element(expr.Expression, step)
	}
	return nil
}

// keyOf is the name of an object's element, if it is written out.
func keyOf(item hclsyntax.ObjectConsItem) (name string, ok bool) {
	key, diags := item.KeyExpr.Value(nil)
	if diags.HasErrors() {
		return "", false
	}
	key, err := convert.Convert(key, cty.String)
	if err != nil || key.IsNull() || !key.IsKnown() {
		return "", false
	}
	return key.AsString(), true
}

// isConstant tells whether an expression is written out: it refers to nothing and
// calls nothing.
func isConstant(expr hclsyntax.Expression) bool {
	if len(expr.Variables()) > 0 {
		return false
	}
	constant := true
	_ = hclsyntax.VisitAll(expr, func(node hclsyntax.Node) hcl.Diagnostics {
		if _, ok := node.(*hclsyntax.FunctionCallExpr); ok {
			constant = false
		}
		return nil
	})
	return constant
}

// change notes an edit.
func (w *rewriter) change(d Drift, file string, e edit) {
	w.changes = append(w.changes, change{[]Drift{d}, file, []edit{e}})
}

func (w *rewriter) replace(d Drift, at hcl.Range, with string) {
	w.change(d, at.Filename, edit{at.Start.Byte, at.End.Byte, with})
}

// line is the edit that removes an argument: with its line and a comment at the end of
// that, unless something else stands there.
func (w *rewriter) line(at hcl.Range) edit {
	src := w.config.Root.Sources[at.Filename]
	start, end := lineStart(src, at.Start.Byte), len(src)
	if i := bytes.IndexByte(src[at.End.Byte:], '\n'); i >= 0 {
		end = at.End.Byte + i + 1
	}
	if !isBlank(src[start:at.Start.Byte]) || !isRemark(src[at.End.Byte:end]) {
		start, end = at.Start.Byte, at.End.Byte
	}
	return edit{start, end, ""}
}

// isRemark tells whether the end of a line holds nothing but a comment that ends with it.
func isRemark(text []byte) bool {
	text = bytes.TrimSpace(text)
	return len(text) == 0 || text[0] == '#' || bytes.HasPrefix(text, []byte("//")) ||
		bytes.HasPrefix(text, []byte("/*")) && bytes.Index(text, []byte("*/")) == len(text)-2
}

// indentation is the white space that begins the line of a range.
func (w *rewriter) indentation(at hcl.Range) string {
	src := w.config.Root.Sources[at.Filename]
	line := src[bytes.LastIndexByte(src[:at.Start.Byte], '\n')+1 : at.Start.Byte]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// indented puts the lines of a value that follow the first under the line that it begins in.
func indented(text, indentation string) string {
	return strings.ReplaceAll(text, "\n", "\n"+indentation)
}

func isName(text string) bool { return hclsyntax.ValidIdentifier(text) }

// apply makes the changes. One that touches the text of another is refused, and so is
// one that would leave a file that cannot be read; the others are made.
func (w *rewriter) apply() map[string][]byte {
	out := map[string][]byte{}
	byFile := map[string][]change{}
	for _, c := range w.changes {
		byFile[c.file] = append(byFile[c.file], c)
	}
	for _, file := range slices.Sorted(maps.Keys(byFile)) {
		if content := w.applyTo(file, byFile[file]); content != nil {
			out[file] = content
		}
	}
	return out
}

// applyTo makes the changes of one file, one by one if they are not possible together.
func (w *rewriter) applyTo(file string, changes []change) []byte {
	src := w.config.Root.Sources[file]
	content, why := edited(file, src, changes)
	if why == "" {
		return content
	}
	var made []change
	var last []byte
	for _, c := range changes {
		content, why := edited(file, src, append(slices.Clip(made), c))
		if why != "" {
			w.cannot(c, why)
			continue
		}
		made, last = append(made, c), content
	}
	return last
}

// edited is a file with changes, or why they cannot be made.
func edited(file string, src []byte, changes []change) (content []byte, why string) {
	var edits []edit
	for _, c := range changes {
		edits = append(edits, c.edits...)
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Or(cmp.Compare(b.start, a.start), cmp.Compare(b.end, a.end)) })
	content, before := src, len(src)
	for _, e := range edits { // the last first, so that the places before it stay
		if e.end > before {
			return nil, "another change is made to the same text. Adopt that one first"
		}
		content = slices.Concat(content[:e.start], withEndings(e.text, src), content[e.end:])
		before = e.start
	}
	if _, diags := hclsyntax.ParseConfig(content, file, hcl.InitialPos); diags.HasErrors() {
		return nil, "its place is written in a way that is not understood here. Change it by hand"
	}
	return content, ""
}

func (w *rewriter) cannot(c change, why string) {
	for _, d := range c.drift {
		w.refuse(d, nil, "Configuration cannot be changed", fmt.Sprintf("%s cannot be adopted, because %s.", d.Name(), why))
	}
}

// withEndings ends lines as a file does.
func withEndings(text string, src []byte) []byte {
	if bytes.Contains(src, []byte("\r\n")) {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return []byte(text)
}

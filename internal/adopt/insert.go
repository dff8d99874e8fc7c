package adopt

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/towline/terraform-provider-towline/internal/configs"
)

// insertion is what is to be added at one place: in one block, or in one object.
type insertion struct {
	// block or object is set.
	block  *hclsyntax.Block
	object *hclsyntax.ObjectConsExpr
	drift  []Drift
	names  []string
	edits  []edit
}

// insertInto collects what is added at one place, so that two additions know of each other.
func (w *rewriter) insertInto(block *hclsyntax.Block, object *hclsyntax.ObjectConsExpr, d Drift, name string) {
	at := slices.IndexFunc(w.insertions, func(i *insertion) bool { return i.block == block && i.object == object })
	if at < 0 {
		at, w.insertions = len(w.insertions), append(w.insertions, &insertion{block: block, object: object})
	}
	i := w.insertions[at]
	i.drift, i.names = append(i.drift, d), append(i.names, name)
}

// insert gives a block an argument that it does not have.
func (w *rewriter) insert(d Drift, block *hclsyntax.Block, name string) {
	if d.Sensitive {
		w.refuse(d, block.DefRange().Ptr(), "Value is sensitive", fmt.Sprintf("The real value of %s is not written into configuration, because everybody who reads it would see it. Use a variable.", d.Name()))
		return
	}
	w.insertInto(block, nil, d, name)
}

// insertItem gives an object another element.
func (w *rewriter) insertItem(d Drift, module *configs.Config, object *hclsyntax.ObjectConsExpr, key any) {
	name, ok := key.(string)
	if !ok || d.Sensitive {
		w.refuse(d, object.Range().Ptr(), "Value is sensitive", fmt.Sprintf("The real value of %s is not written into configuration. Use a variable.", d.Name()))
		return
	}
	for _, item := range object.Items {
		if _, diags := item.KeyExpr.Value(nil); diags.HasErrors() { // it may be this very key
			w.pointAt(d, module, item.KeyExpr)
			return
		}
	}
	w.insertInto(nil, object, d, keyText(name))
}

// lines writes what is added as lines of their own.
func (i *insertion) lines(indentation string) string {
	var out strings.Builder
	for n, name := range i.names {
		out.WriteString(indentation + name + " = " + indented(text(i.drift[n].Value), indentation) + "\n")
	}
	return out.String()
}

// inline writes what is added on one line.
func (i *insertion) inline() string {
	var out []string
	for n, name := range i.names {
		out = append(out, name+" = "+text(i.drift[n].Value))
	}
	return strings.Join(out, ", ")
}

// settle makes changes of what is to be added.
func (w *rewriter) settle() {
	for _, i := range w.insertions {
		if i.block != nil {
			w.extendBlock(i)
		} else {
			w.extendObject(i)
		}
		w.changes = append(w.changes, change{i.drift, i.file(), i.edits})
	}
}

func (i *insertion) file() string {
	if i.block != nil {
		return i.block.TypeRange.Filename
	}
	return i.object.SrcRange.Filename
}

func (i *insertion) edit(start, end int, text string) {
	i.edits = append(i.edits, edit{start, end, text})
}

// extendBlock adds lines before the brace that closes a block. One that is written on
// one line becomes several.
func (w *rewriter) extendBlock(i *insertion) {
	opening, closing := i.block.OpenBraceRange, i.block.CloseBraceRange
	src := w.config.Root.Sources[closing.Filename]
	outer := w.indentation(opening)
	inner := outer + "  "
	content := src[opening.End.Byte:closing.Start.Byte]
	if line := lineStart(src, closing.Start.Byte); line >= opening.End.Byte {
		last := -1
		for _, attr := range i.block.Body.Attributes {
			if at := attr.SrcRange.Start.Byte; at > last {
				last, inner = at, w.indentation(attr.SrcRange)
			}
		}
		if isBlank(src[line:closing.Start.Byte]) {
			i.edit(line, line, i.lines(inner))
			return
		}
		i.edit(closing.Start.Byte, closing.Start.Byte, "\n"+i.lines(inner)+outer)
		return
	}
	if isBlank(content) {
		i.edit(opening.End.Byte, closing.Start.Byte, "\n"+i.lines(inner)+outer)
		return
	}
	i.edit(opening.End.Byte, closing.Start.Byte-len(bytes.TrimLeft(content, " \t")), "\n"+inner)
	i.edit(opening.End.Byte+len(bytes.TrimRight(content, " \t")), closing.Start.Byte, "\n"+i.lines(inner)+outer)
}

// extendObject adds elements before the brace that closes an object: on lines of their
// own if that one stands on its own, else behind the last element.
func (w *rewriter) extendObject(i *insertion) {
	at := i.object.Range()
	src, closing := w.config.Root.Sources[at.Filename], at.End.Byte-1
	line := lineStart(src, closing)
	switch items := i.object.Items; {
	case line > at.Start.Byte && isBlank(src[line:closing]):
		inner := w.indentation(hcl.Range{Filename: at.Filename, Start: hcl.Pos{Byte: closing}}) + "  "
		if len(items) > 0 {
			inner = w.indentation(items[len(items)-1].KeyExpr.Range())
		}
		i.edit(line, line, i.lines(inner))
	case len(items) > 0:
		end := items[len(items)-1].ValueExpr.Range().End.Byte
		i.edit(end, end, ", "+i.inline())
	default:
		start := at.Start.Byte + 1 + len(bytes.TrimRight(src[at.Start.Byte+1:closing], " \t"))
		i.edit(start, closing, " "+i.inline()+" ")
	}
}

// lineStart is where the line of a place begins.
func lineStart(src []byte, at int) int { return bytes.LastIndexByte(src[:at], '\n') + 1 }

func isBlank(text []byte) bool { return len(bytes.TrimSpace(text)) == 0 }

package render

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/towline/terraform-provider-towline/internal/plans"
)

// view writes one kind of value. indent counts levels of four columns.
type view interface {
	text(d diff, indent int, s style) string
}

// warner is a view that puts a remark above its value.
type warner interface {
	warning(indent int, s style) string
}

// style says how differences are written; views pass changed copies on to what is inside.
type style struct {
	paint palette
	// noSymbols leaves out the column of + - ~ marks.
	noSymbols bool
	// all shows what does not change as well.
	all bool
	// noNull leaves out "-> null" behind what is removed.
	noNull bool
	// forces marks everything as forcing replacement.
	forces bool
}

func (d diff) text(indent int, s style) string { return d.view.text(d, indent, s) }

// nullSuffix tells that a value is removed.
func (s style) nullSuffix(d diff) string {
	if s.noNull || d.action != plans.Delete {
		return ""
	}
	return s.paint.color(darkGray, " -> null")
}

// forcesSuffix tells that a difference makes the provider replace the object.
func (s style) forcesSuffix(d diff) string {
	if !d.replace && !s.forces {
		return ""
	}
	return s.paint.color(red, " # forces replacement")
}

func margin(indent int) string { return strings.Repeat("    ", indent) }

// mark returns the four columns with an action's symbol, or nothing.
func (s style) mark(action plans.Action) string {
	if s.noSymbols {
		return ""
	}
	return symbol(s.paint, action) + " "
}

// symbol returns the three columns that stand for an action.
func symbol(p palette, action plans.Action) string {
	plus, minus := p.color(green, "+"), p.color(red, "-")
	switch action {
	case plans.Create:
		return "  " + plus
	case plans.Delete:
		return "  " + minus
	case plans.Update:
		return "  " + p.color(yellow, "~")
	case plans.Read:
		return " " + p.color(cyan, "<=")
	case plans.DeleteThenCreate:
		return minus + "/" + plus
	case plans.CreateThenDelete:
		return plus + "/" + minus
	case plans.Forget:
		return " " + p.color(red, ".")
	default:
		return "   "
	}
}

// countHidden tells how many of something are left out.
func (s style) countHidden(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return s.paint.color(darkGray, fmt.Sprintf("# (%d unchanged %s hidden)", n, what))
}

// lines collects the lines inside a value.
type lines struct {
	strings.Builder

	indent int
}

// add writes one line with an action's symbol.
func (l *lines) add(s style, action plans.Action, text string) {
	l.WriteString(margin(l.indent) + s.mark(action) + text + "\n")
}

// warn writes the remark that belongs above a value, if there is one.
func (l *lines) warn(d diff, s style) {
	if w, ok := d.view.(warner); ok {
		if text := w.warning(l.indent, s); text != "" {
			l.WriteString(margin(l.indent) + text + "\n")
		}
	}
}

// close writes the closing bracket after what is inside.
func (l *lines) close(s style, bracket string) string {
	return l.String() + margin(l.indent-1) + s.mark(plans.NoOp) + bracket
}

// attributeName returns a name as it stands left of an equals sign.
func attributeName(name string) string {
	if hclsyntax.ValidIdentifier(name) {
		return name
	}
	return quote(name)
}

func quote(text string) string { return fmt.Sprintf("%q", text) }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// widest returns the length of the longest name as written.
func widest[V any](m map[string]V, written func(string) string) int {
	width := 0
	for key := range m {
		width = max(width, len(written(key)))
	}
	return width
}

// important are attributes that are shown although they stay as they are: they
// tell people which object it is.
func important(name string) bool { return name == "id" || name == "name" || name == "tags" }

// writeAttributes writes "NAME = VALUE" lines and the number of those left out.
func writeAttributes(l *lines, attrs map[string]diff, outer, inner style) {
	width := widest(attrs, attributeName)
	unchanged := 0
	for _, name := range sortedKeys(attrs) {
		d, s := attrs[name], inner
		if important(name) {
			s.all = true
		} else if d.action == plans.NoOp && !outer.all {
			unchanged++
			continue
		}
		l.warn(d, outer)
		l.add(s, d.action, fmt.Sprintf("%-*s = %s", width, attributeName(name), d.text(l.indent, s)))
	}
	if unchanged > 0 {
		l.add(outer, plans.NoOp, outer.countHidden(unchanged, "attribute"))
	}
}

// block is the value of a block: attributes, then blocks.
type block struct {
	attrs  map[string]diff
	groups map[string]blockGroup
}

func (v block) text(d diff, indent int, s style) string {
	if len(v.attrs) == 0 && len(v.groups) == 0 {
		return "{}" + s.forcesSuffix(d)
	}
	l := &lines{indent: indent + 1}
	writeAttributes(l, v.attrs, s, s)
	unchanged := 0
	for _, name := range sortedKeys(v.groups) {
		unchanged += v.groups[name].write(l, name, s, len(v.attrs) > 0)
	}
	if unchanged > 0 {
		l.WriteByte('\n')
		l.add(s, plans.NoOp, s.countHidden(unchanged, "block"))
	}
	return "{" + s.forcesSuffix(d) + "\n" + l.close(s, "}")
}

// write writes the blocks of one type and returns how many it left out.
func (g blockGroup) write(l *lines, name string, s style, spaced bool) (unchanged int) {
	s.forces = g.replace
	first := true
	for i, d := range g.blocks {
		d = g.hide(d)
		if d.action == plans.NoOp && !s.all {
			unchanged++
			continue
		}
		if first && spaced {
			l.WriteByte('\n')
		}
		first = false
		label := ""
		if g.keys != nil {
			label = " " + quote(g.keys[i])
		}
		l.warn(d, s)
		l.add(s, d.action, attributeName(name)+label+" "+d.text(l.indent, s))
	}
	return unchanged
}

// hide replaces a block's content where all blocks of the type are sensitive.
func (g blockGroup) hide(d diff) diff {
	was := g.before && d.action != plans.Create
	becomes := g.after && d.action != plans.Delete
	if !was && !becomes {
		return d
	}
	inner := d.action
	if inner == plans.NoOp && g.before != g.after {
		d.action = plans.Update
	}
	d.view = hiddenBlock{inner: inner, before: g.before, after: g.after}
	return d
}

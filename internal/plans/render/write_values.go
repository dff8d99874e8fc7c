package render

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/plans"
)

// object is a value with named attributes; nested ones come from nested attribute types.
type object struct {
	attrs  map[string]diff
	nested bool
}

func (v object) text(d diff, indent int, s style) string {
	if len(v.attrs) == 0 {
		return "{}" + s.nullSuffix(d) + s.forcesSuffix(d)
	}
	inner := s
	inner.noNull = !v.nested
	l := &lines{indent: indent + 1}
	writeAttributes(l, v.attrs, s, inner)
	return "{" + s.forcesSuffix(d) + "\n" + l.close(s, "}") + s.nullSuffix(d)
}

// mapping is a map. Nested ones pass "forces replacement" on to their elements.
type mapping struct {
	elems  map[string]diff
	nested bool
}

func (v mapping) text(d diff, indent int, s style) string {
	self, inner := s.splitForces(d, v.nested)
	if len(v.elems) == 0 {
		return "{}" + s.nullSuffix(d) + self
	}
	inner.noNull = d.action == plans.Delete || v.nested
	width := 0
	if !v.nested {
		width = widest(v.elems, quote)
	}
	l := &lines{indent: indent + 1}
	unchanged := 0
	for _, key := range sortedKeys(v.elems) {
		e := v.elems[key]
		if e.action == plans.NoOp && !s.all {
			unchanged++
			continue
		}
		l.warn(e, s)
		comma := ""
		if _, ok := e.view.(object); ok {
			comma = ","
		}
		l.add(inner, e.action, fmt.Sprintf("%-*s = %s%s", width, quote(key), e.text(l.indent, inner), comma))
	}
	if unchanged > 0 {
		l.add(s, plans.NoOp, s.countHidden(unchanged, "element"))
	}
	return "{" + self + "\n" + l.close(s, "}") + s.nullSuffix(d)
}

// splitForces returns the suffix for a collection itself and the style for its
// elements: one of the two says that replacement is forced.
func (s style) splitForces(d diff, onElements bool) (string, style) {
	inner := s
	inner.forces = d.replace && onElements
	if onElements {
		d.replace = false
	}
	return s.forcesSuffix(d), inner
}

// set is a set; its elements have no places.
type set struct {
	elems  []diff
	nested bool
}

func (v set) text(d diff, indent int, s style) string {
	self, inner := s.splitForces(d, v.nested)
	if len(v.elems) == 0 {
		return "[]" + s.nullSuffix(d) + self
	}
	inner.noNull = true
	l := &lines{indent: indent + 1}
	unchanged := 0
	for _, e := range v.elems {
		if e.action == plans.NoOp && !s.all {
			unchanged++
			continue
		}
		l.warn(e, s)
		l.add(inner, e.action, e.text(l.indent, inner)+",")
	}
	if unchanged > 0 {
		l.add(s, plans.NoOp, s.countHidden(unchanged, "element"))
	}
	return "[" + self + "\n" + l.close(s, "]") + s.nullSuffix(d)
}

// list is a list. With context, the elements next to a change are shown too.
type list struct {
	elems   []diff
	context bool
}

func (v list) text(d diff, indent int, s style) string {
	if len(v.elems) == 0 {
		return "[]" + s.nullSuffix(d) + s.forcesSuffix(d)
	}
	w := listWriter{lines: lines{indent: indent + 1}, outer: s, changed: s, still: s}
	w.changed.noNull = true
	w.still.all = true
	for _, e := range v.elems {
		w.element(e, v.context)
	}
	if len(w.held) > 0 {
		w.add(s, plans.NoOp, s.countHidden(len(w.held), "element"))
	}
	return "[" + s.forcesSuffix(d) + "\n" + w.close(s, "]") + s.nullSuffix(d)
}

// listWriter writes the elements of a list; held are unchanged ones that are not
// written yet, and may never be.
type listWriter struct {
	lines

	outer, changed, still style
	held                  []diff
	// next tells that the next element is shown because a change came before it.
	next bool
}

func (w *listWriter) element(e diff, context bool) {
	if e.action == plans.NoOp && !w.next && !w.outer.all {
		w.held = append(w.held, e)
		return
	}
	w.next = false
	s := w.changed
	if context {
		w.leadIn()
		if e.action == plans.NoOp {
			s = w.still
		} else {
			w.next = true
		}
	}
	w.warn(e, s)
	w.add(s, e.action, e.text(w.indent, s)+",")
}

// leadIn shows the element before a change and counts those before that one.
func (w *listWriter) leadIn() {
	if n := len(w.held); n > 0 {
		if n > 1 {
			w.add(w.changed, plans.NoOp, w.changed.countHidden(n-1, "element"))
		}
		last := w.held[n-1]
		w.add(w.still, last.action, last.text(w.indent, w.still)+",")
	}
	w.held = nil
}

// hidden stands for a sensitive value. It holds no value.
type hidden struct {
	inner         plans.Action
	before, after bool
}

func (v hidden) text(d diff, _ int, s style) string {
	return "(sensitive value)" + s.nullSuffix(d) + s.forcesSuffix(d)
}

func (v hidden) warning(indent int, s style) string {
	text := sensitivityWarning("attribute value", v.inner, v.before, v.after, indent, s)
	if text != "" && v.inner == plans.NoOp {
		text += " The value is unchanged."
	}
	return text
}

// sensitivityWarning tells that a value becomes visible or invisible.
func sensitivityWarning(what string, inner plans.Action, before, after bool, indent int, s style) string {
	if before == after || inner == plans.Create || inner == plans.Delete {
		return ""
	}
	head := "  # " + s.paint.color(yellow, "Warning") + ": this " + what
	next := "\n" + margin(indent) + "  # "
	if before {
		return head + " will no longer be marked as sensitive" + next + "after applying this change."
	}
	return head + " will be marked as sensitive and will not" + next + "display in UI output after applying this change."
}

// hiddenBlock stands for a block with something sensitive in all of it.
type hiddenBlock hidden

func (v hiddenBlock) text(d diff, indent int, s style) string {
	start := margin(indent) + s.mark(plans.NoOp)
	return "{" + s.forcesSuffix(d) +
		"\n" + start + "  # At least one attribute in this block is (or was) sensitive," +
		"\n" + start + "  # so its contents will not be displayed." +
		"\n" + start + "}"
}

func (v hiddenBlock) warning(indent int, s style) string {
	return sensitivityWarning("block", v.inner, v.before, v.after, indent, s)
}

// unknown is a value that is known after the apply only.
type unknown struct{ was *diff }

func (v unknown) text(d diff, indent int, s style) string {
	if d.action == plans.Create || v.was == nil {
		return "(known after apply)" + s.forcesSuffix(d)
	}
	s.noNull = true
	return v.was.text(indent, s) + " -> (known after apply)" + s.forcesSuffix(d)
}

// retyped is a value that becomes one of another kind.
type retyped struct{ was, now diff }

func (v retyped) text(d diff, indent int, s style) string {
	s.noNull = true
	return v.was.text(indent, s) + s.paint.color(yellow, " -> ") + v.now.text(indent, s) + s.forcesSuffix(d)
}

// writeOnlyValue is an attribute whose value nobody keeps.
type writeOnlyValue struct{}

func (writeOnlyValue) text(d diff, _ int, s style) string {
	return "(write-only attribute)" + s.nullSuffix(d) + s.forcesSuffix(d)
}

// scalar is a text, number, bool or null.
type scalar struct{ before, after cty.Value }

func (v scalar) text(d diff, indent int, s style) string {
	if isText(v.before) || isText(v.after) {
		return v.stringText(d, indent, s)
	}
	switch d.action {
	case plans.Create, plans.NoOp:
		return s.primitive(v.after) + s.forcesSuffix(d)
	case plans.Delete:
		return s.primitive(v.before) + s.nullSuffix(d) + s.forcesSuffix(d)
	default:
		return s.primitive(v.before) + s.paint.color(yellow, " -> ") + s.primitive(v.after) + s.forcesSuffix(d)
	}
}

func isText(v cty.Value) bool {
	return v != cty.NilVal && !v.IsNull() && v.IsKnown() && v.Type() == cty.String
}

// primitive writes a number, bool or null.
func (s style) primitive(v cty.Value) string {
	switch {
	case isNull(v):
		return s.paint.color(darkGray, "null")
	case v.Type() == cty.Number:
		return v.AsBigFloat().Text('f', -1)
	case v.Type() == cty.Bool && v.True():
		return "true"
	case v.Type() == cty.Bool:
		return "false"
	default:
		return quote(v.AsString())
	}
}

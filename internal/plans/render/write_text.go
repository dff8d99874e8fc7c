package render

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/towline/terraform-provider-towline/internal/plans"
)

// written is a text as it is shown: as JSON if it is some, over several lines if
// it has them, else in quotes.
type written struct {
	text string
	// json is the decoded value; absent if the text is no JSON collection.
	json      cty.Value
	multiline bool
	null      bool
}

// maxJSONText bounds the texts that are tried as JSON, in bytes.
const maxJSONText = 4 << 20

func newWritten(v cty.Value) written {
	if isNull(v) {
		return written{null: true}
	}
	text := v.AsString()
	if decoded := decodeJSON(text); decoded != cty.NilVal {
		return written{text: text, json: decoded}
	}
	if strings.Contains(text, "\n") {
		return written{text: strings.TrimSpace(text), multiline: true}
	}
	return written{text: text}
}

// decodeJSON returns the value of a JSON object or array, or an absent value.
// What follows the first value does not matter, as in Terraform.
func decodeJSON(text string) cty.Value {
	if len(text) > maxJSONText || (!strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[")) {
		return cty.NilVal
	}
	var raw json.RawMessage
	if json.NewDecoder(strings.NewReader(text)).Decode(&raw) != nil {
		return cty.NilVal
	}
	ty, err := ctyjson.ImpliedType(raw)
	if err != nil {
		return cty.NilVal
	}
	val, err := ctyjson.Unmarshal(bytes.TrimSpace(raw), ty)
	if err != nil {
		return cty.NilVal
	}
	return val
}

func (t written) isJSON() bool { return t.json != cty.NilVal }

// simple writes the text on one line.
func (t written) simple(s style) string {
	if t.null {
		return s.paint.color(darkGray, "null")
	}
	return quote(t.text)
}

func (v scalar) stringText(d diff, indent int, s style) string {
	before, after := newWritten(v.before), newWritten(v.after)
	if d.action == plans.Update {
		return v.changedText(before, after, d, indent, s)
	}
	only := after
	if d.action == plans.Delete {
		only = before
	}
	switch {
	case only.isJSON():
		c := change{before: before.json, after: after.json}
		if d.action == plans.Create {
			c.before = cty.NilVal
		} else if d.action == plans.Delete {
			c.after = cty.NilVal
		}
		return jsonText(c, d, indent, s)
	case !only.multiline:
		return only.simple(s) + s.nullSuffix(d) + s.forcesSuffix(d)
	}
	l := &lines{indent: indent + 1}
	for line := range strings.SplitSeq(only.text, "\n") {
		l.add(s, plans.NoOp, line)
	}
	return heredoc(l, d, s)
}

// changedText writes a text that becomes another one.
func (v scalar) changedText(before, after written, d diff, indent int, s style) string {
	switch {
	case before.isJSON() && after.isJSON():
		return jsonText(change{before: before.json, after: after.json}, d, indent, s)
	case before.isJSON() || after.isJSON():
		was := diff{plans.Delete, false, scalar{before: v.before}}
		now := diff{plans.Create, false, scalar{after: v.after}}
		return retyped{was, now}.text(d, indent, s)
	case !before.multiline && !after.multiline:
		return before.simple(s) + s.paint.color(yellow, " -> ") + after.simple(s) + s.forcesSuffix(d)
	}
	l := &lines{indent: indent + 1}
	was, now := strings.Split(before.text, "\n"), strings.Split(after.text, "\n")
	never := func(string, string) bool { return false }
	align(was, now, func(a, b string) bool { return a == b }, never, func(i, j int) {
		switch {
		case i < 0:
			l.add(s, plans.Create, now[j])
		case j < 0:
			l.add(s, plans.Delete, was[i])
		default:
			l.add(s, plans.NoOp, was[i])
		}
	})
	return heredoc(l, d, s)
}

func heredoc(l *lines, d diff, s style) string {
	return "<<-EOT" + s.forcesSuffix(d) + "\n" + l.close(s, "EOT") + s.nullSuffix(d)
}

// jsonText writes a text that holds JSON as a call of jsonencode.
func jsonText(c change, d diff, indent int, s style) string {
	inner := compareDynamic(c)
	inside := s
	inside.noNull = true
	mark, head, tail := plans.NoOp, "", s.forcesSuffix(d)
	switch {
	case d.action == plans.Update && inner.action == plans.NoOp:
		// The texts hold the same: without a word about it, no change would be seen.
		inside.all = true
		head, tail = s.paint.color(red, " # whitespace changes"), ""
		if d.replace {
			head = s.paint.color(red, " # whitespace changes force replacement")
		}
	case d.action == plans.Update:
		mark = plans.Update
	}
	body := inner.text(indent+1, inside)
	if !strings.Contains(body, "\n") {
		return "jsonencode(" + body + head + tail + ")" + s.nullSuffix(d)
	}
	return "jsonencode(" + head + "\n" + margin(indent+1) + s.mark(mark) + body + tail + "\n" + margin(indent) + s.mark(plans.NoOp) + ")" + s.nullSuffix(d)
}

package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// expressionText writes a value as an expression that would give it, as
// terraform output and console do: collections say their kind, nulls their type.
func expressionText(v cty.Value, indent int) string {
	switch {
	case isSensitive(v):
		return "(sensitive value)"
	case !v.IsKnown():
		return "(known after apply)"
	case v.IsNull():
		return nullText(v.Type())
	}
	ty := v.Type()
	switch {
	case ty == cty.String:
		return textExpression(v.AsString(), indent)
	case ty == cty.Number:
		return v.AsBigFloat().Text('f', -1)
	case ty == cty.Bool:
		return fmt.Sprint(v.True())
	case ty.IsObjectType():
		return keyedText(v, indent)
	case ty.IsMapType():
		return "tomap(" + keyedText(v, indent) + ")"
	case ty.IsTupleType():
		return sequenceText(v, indent)
	case ty.IsSetType():
		return "toset(" + sequenceText(v, indent) + ")"
	case ty.IsListType():
		return "tolist(" + sequenceText(v, indent) + ")"
	default:
		return fmt.Sprintf("%#v", v)
	}
}

func nullText(ty cty.Type) string {
	switch {
	case ty == cty.DynamicPseudoType:
		return "null"
	case ty == cty.String:
		return "tostring(null)"
	case ty == cty.Number:
		return "tonumber(null)"
	case ty == cty.Bool:
		return "tobool(null)"
	case ty.IsListType():
		return "tolist(null) /* of " + ty.ElementType().FriendlyName() + " */"
	case ty.IsSetType():
		return "toset(null) /* of " + ty.ElementType().FriendlyName() + " */"
	case ty.IsMapType():
		return "tomap(null) /* of " + ty.ElementType().FriendlyName() + " */"
	default:
		return "null /* " + ty.FriendlyName() + " */"
	}
}

// textExpression writes a text in quotes, or as a heredoc if it has several lines.
func textExpression(text string, indent int) string {
	if !strings.Contains(text, "\n") {
		return quote(text)
	}
	lines := strings.Split(text, "\n")
	end := "EOT"
	for slices.Contains(lines, end) {
		end += "_"
	}
	if indent == 0 {
		return "<<" + end + "\n" + text + "\n" + end
	}
	margin := strings.Repeat(" ", indent)
	var b strings.Builder
	b.WriteString("<<-" + end + "\n")
	for _, line := range lines {
		b.WriteString(margin + line + "\n")
	}
	return b.String() + margin + end
}

func sequenceText(v cty.Value, indent int) string {
	return bracketed("[", "]", indent, func(b *strings.Builder, margin string) {
		for it := v.ElementIterator(); it.Next(); {
			_, elem := it.Element()
			b.WriteString(margin + expressionText(elem, indent+2) + ",\n")
		}
	})
}

func keyedText(v cty.Value, indent int) string {
	return bracketed("{", "}", indent, func(b *strings.Builder, margin string) {
		for it := v.ElementIterator(); it.Next(); {
			key, elem := it.Element()
			b.WriteString(margin + expressionText(key, indent+2) + " = " + expressionText(elem, indent+2) + "\n")
		}
	})
}

// bracketed puts lines between brackets, or nothing where there are none.
func bracketed(open, end string, indent int, write func(b *strings.Builder, margin string)) string {
	var b strings.Builder
	write(&b, strings.Repeat(" ", indent+2))
	if b.Len() == 0 {
		return open + end
	}
	return open + "\n" + b.String() + strings.Repeat(" ", indent) + end
}

package control

import (
	"iter"
	"strings"
)

// MatchAddress tells whether a pattern selects an address. "*" stands for any
// run of characters within one step, "**" for any number of steps. A step of the
// pattern without an instance key selects every instance.
func MatchAddress(pattern, addr string) bool {
	return matchSteps(SplitSteps(pattern), SplitSteps(addr))
}

// SplitSteps splits an address, a path or a pattern of one at the dots outside brackets.
func SplitSteps(text string) []string {
	var steps []string
	start := 0
	for i := range separators(text) {
		if text[i] == '.' {
			steps = append(steps, text[start:i])
			start = i + 1
		}
	}
	return append(steps, text[start:])
}

// separators are the places of the dots and opening brackets that are in no brackets. What
// is quoted in brackets separates nothing.
func separators(text string) iter.Seq[int] {
	return func(yield func(int) bool) {
		depth, quoted := 0, false
		for i := 0; i < len(text); i++ {
			switch c := text[i]; {
			case quoted && c == '\\':
				i++
			case c == '"' && depth > 0:
				quoted = !quoted
			case quoted:
			case (c == '.' || c == '[') && depth == 0 && !yield(i):
				return
			case c == '[':
				depth++
			case c == ']' && depth > 0:
				depth--
			}
		}
	}
}

// matchSteps is the usual wildcard match over steps, linear in practice and
// bounded by the product of both lengths.
func matchSteps(pattern, steps []string) bool {
	reach := make([]bool, len(steps)+1)
	reach[0] = true
	for _, p := range pattern {
		next := make([]bool, len(steps)+1)
		for i := range reach {
			if p == "**" {
				next[i] = reach[i] || (i > 0 && next[i-1])
				continue
			}
			if i > 0 && reach[i-1] {
				next[i] = matchStep(p, steps[i-1])
			}
		}
		reach = next
	}
	return reach[len(steps)]
}

func matchStep(pattern, step string) bool {
	if !strings.Contains(pattern, "[") {
		step, _, _ = strings.Cut(step, "[")
	}
	return matchText(pattern, step)
}

// matchText matches text with "*" for any run of characters.
func matchText(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	if !strings.HasPrefix(text, parts[0]) {
		return false
	}
	text = text[len(parts[0]):]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return strings.HasSuffix(text, parts[len(parts)-1])
}

// parentPath takes the last step off a path of an attribute: a key in brackets or
// a name behind a dot. It is "" if there is none above.
func parentPath(path string) string {
	cut := 0
	for i := range separators(path) {
		cut = i
	}
	return path[:cut]
}

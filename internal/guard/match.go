package guard

import (
	"strings"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/control"
)

// matchesAny tells whether any entry selects an instance.
func matchesAny(matches []control.Match, addr addrs.ResourceInstance) bool {
	for _, m := range matches {
		if (m.Type == "" || matchText(m.Type, addr.Resource.Type)) && (m.Address == "" || MatchAddress(m.Address, addr.String())) {
			return true
		}
	}
	return false
}

// InScope tells whether a scope includes an instance and does not exclude it.
func InScope(scope control.Scope, addr addrs.ResourceInstance) bool {
	return matchesAny(scope.Include, addr) && !matchesAny(scope.Exclude, addr)
}

// MatchAddress tells whether a pattern selects an address. "*" stands for any
// run of characters within one step, "**" for any number of steps. A step of the
// pattern without an instance key selects every instance.
func MatchAddress(pattern, addr string) bool {
	return matchSteps(splitSteps(pattern), splitSteps(addr))
}

// splitSteps splits at the dots outside brackets.
func splitSteps(text string) []string {
	var steps []string
	depth, start := 0, 0
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"' && depth > 0:
			quoted = !quoted
		case quoted:
		case c == '[':
			depth++
		case c == ']' && depth > 0:
			depth--
		case c == '.' && depth == 0:
			steps = append(steps, text[start:i])
			start = i + 1
		}
	}
	return append(steps, text[start:])
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

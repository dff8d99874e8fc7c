package parity

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// withoutProse drops the sentences of a shown plan, which are each program's own,
// and keeps what is said of objects: a line of prose begins in the first column
// and is not one of the headings that both share.
func withoutProse(text string) string {
	var out strings.Builder
	for line := range strings.Lines(ownName(text)) {
		if !isProse(line) {
			out.WriteString(line)
		}
	}
	return strings.TrimSpace(blankRuns.ReplaceAllString(out.String(), "\n\n"))
}

var blankRuns = regexp.MustCompile(`\n{3,}`)

// ownName lets each program speak of itself.
func ownName(text string) string {
	return strings.NewReplacer("Terraform", "Towline", "terraform init", "towline init").Replace(text)
}

func isProse(line string) bool {
	for _, heading := range []string{"Plan:", "No changes.", "Changes to Outputs:", "Outputs:"} {
		if strings.HasPrefix(line, heading) {
			return false
		}
	}
	if strings.HasPrefix(line, "──") || strings.HasPrefix(line, "    terraform ") || strings.HasPrefix(line, "    towline ") {
		return true // how to go on
	}
	first := line[0]
	letter := first >= 'A' && first <= 'Z' || first >= 'a' && first <= 'z'
	return letter && !assigned.MatchString(line) && !strings.HasSuffix(line, " {\n")
}

// assigned matches the line of an output.
var assigned = regexp.MustCompile(`^[\w-]+ += `)

// comparable is the summary of a problem without what is told by chance: the order
// of what is in a circle, and which of an object's steps were met.
func comparable(summary string) string {
	members, ok := strings.CutPrefix(ownName(summary), "Cycle: ")
	if !ok {
		return ownName(summary)
	}
	names := strings.Split(stepOfNode.ReplaceAllString(members, ""), ", ")
	slices.Sort(names)
	return "Cycle: " + strings.Join(slices.Compact(names), ", ")
}

// stepOfNode matches the step of an object that terraform names.
var stepOfNode = regexp.MustCompile(` \([a-z ]+\)`)

// problem finds one in what a program says to people.
var problem = regexp.MustCompile(`(?m)^(?:[│╷] )?(Error|Warning): ([^\n]+)`)

// problems are severity and summary of what a program complains about where it
// has no -json.
func (s *side) problems(out output) any {
	list := []any{}
	for _, found := range problem.FindAllStringSubmatch(out.stdout+"\n"+out.stderr, -1) {
		list = append(list, map[string]any{"severity": strings.ToLower(found[1]), "summary": comparable(s.names.replace(found[2]))})
	}
	slices.SortFunc(list, func(a, b any) int { return cmp.Compare(encoded(a), encoded(b)) })
	return list
}

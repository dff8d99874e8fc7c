package render

import (
	"fmt"
	"strings"
	"testing"
)

func TestAlign(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		before, after string
		pair          bool
		want          string
	}{
		"both empty":        {"", "", false, ""},
		"all added":         {"", "ab", false, "+a +b"},
		"all removed":       {"ab", "", false, "-a -b"},
		"equal":             {"abc", "abc", false, "a b c"},
		"in the middle":     {"axc", "aybc", false, "a -x +y +b c"},
		"moved":             {"abc", "bac", false, "-a b +a c"},
		"first counts":      {"abb", "b", false, "-a b -b"},
		"pairs":             {"axc", "ayzc", true, "a x>y +z c"},
		"nothing in common": {"ab", "xyz", true, "a>x b>y +z"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			before, after := []byte(test.before), []byte(test.after)
			equal := func(a, b byte) bool { return a == b }
			pair := func(byte, byte) bool { return test.pair }
			align(before, after, equal, pair, func(i, j int) {
				switch {
				case i < 0:
					got = append(got, fmt.Sprintf("+%c", after[j]))
				case j < 0:
					got = append(got, fmt.Sprintf("-%c", before[i]))
				case before[i] == after[j]:
					got = append(got, string(before[i]))
				default:
					got = append(got, fmt.Sprintf("%c>%c", before[i], after[j]))
				}
			})
			if text := strings.Join(got, " "); text != test.want {
				t.Errorf("got %s, want %s", text, test.want)
			}
		})
	}
}

// Sequences that are too long for the table must still end, and lose nothing.
func TestAlignLongSequences(t *testing.T) {
	t.Parallel()
	const n = 5000
	before, after := make([]int, n), make([]int, n)
	for i := range n {
		before[i], after[i] = i, n+i
	}
	before[0], after[0] = -1, -1
	visited := [2]int{}
	align(before, after, func(a, b int) bool { return a == b }, func(int, int) bool { return false }, func(i, j int) {
		if i >= 0 {
			visited[0]++
		}
		if j >= 0 {
			visited[1]++
		}
	})
	if visited != [2]int{n, n} {
		t.Errorf("visited %v, want all %d of both", visited, n)
	}
}

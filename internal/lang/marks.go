package lang

import "github.com/zclconf/go-cty/cty"

type mark string

const (
	// Sensitive is the mark on values that must not be shown.
	Sensitive = mark("sensitive")
	// Ephemeral is the mark on values that must not be kept: neither in a plan nor in a state.
	Ephemeral = mark("ephemeral")
)

// ContainsSensitive tells whether any part of a value is marked as sensitive.
func ContainsSensitive(v cty.Value) bool { return contains(v, Sensitive) }

// ContainsEphemeral tells whether any part of a value is marked as ephemeral.
func ContainsEphemeral(v cty.Value) bool { return contains(v, Ephemeral) }

func contains(v cty.Value, m mark) bool {
	if !v.ContainsMarked() {
		return false
	}
	_, marks := v.UnmarkDeep()
	_, found := marks[m]
	return found
}

// MarkedPaths are the places at which a value was marked.
type MarkedPaths struct{ Sensitive, Ephemeral []cty.Path }

// UnmarkPaths removes all marks from a value and tells where they were.
func UnmarkPaths(v cty.Value) (cty.Value, MarkedPaths) {
	var paths MarkedPaths
	if !v.ContainsMarked() {
		return v, paths
	}
	unmarked, marked := v.UnmarkDeepWithPaths()
	for _, m := range marked {
		if _, found := m.Marks[Sensitive]; found {
			paths.Sensitive = append(paths.Sensitive, m.Path)
		}
		if _, found := m.Marks[Ephemeral]; found {
			paths.Ephemeral = append(paths.Ephemeral, m.Path)
		}
	}
	return unmarked, paths
}

// DropEphemeral removes the marks that say that a value must not be kept.
func DropEphemeral(v cty.Value) cty.Value {
	if !ContainsEphemeral(v) {
		return v
	}
	unmarked, marked := v.UnmarkDeepWithPaths()
	for i := range marked {
		delete(marked[i].Marks, Ephemeral)
	}
	return unmarked.MarkWithPaths(marked)
}

// MarkPaths marks the values at paths as sensitive. Paths that the value does not have are ignored.
func MarkPaths(v cty.Value, paths []cty.Path) cty.Value {
	if len(paths) == 0 {
		return v
	}
	marks := make([]cty.PathValueMarks, 0, len(paths))
	for _, p := range paths {
		marks = append(marks, cty.PathValueMarks{Path: p, Marks: cty.NewValueMarks(Sensitive)})
	}
	return v.MarkWithPaths(marks)
}

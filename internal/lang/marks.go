package lang

import "github.com/zclconf/go-cty/cty"

type mark string

// Sensitive is the mark on values that must not be shown.
const Sensitive = mark("sensitive")

// ContainsSensitive tells whether any part of a value is marked as sensitive.
func ContainsSensitive(v cty.Value) bool {
	if !v.ContainsMarked() {
		return false
	}
	_, marks := v.UnmarkDeep()
	_, found := marks[Sensitive]
	return found
}

// SensitivePaths unmarks a value and returns the paths at which it was marked as sensitive.
func SensitivePaths(v cty.Value) (cty.Value, []cty.Path) {
	if !v.ContainsMarked() {
		return v, nil
	}
	unmarked, marked := v.UnmarkDeepWithPaths()
	var paths []cty.Path
	for _, m := range marked {
		if _, found := m.Marks[Sensitive]; found {
			paths = append(paths, m.Path)
		}
	}
	return unmarked, paths
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

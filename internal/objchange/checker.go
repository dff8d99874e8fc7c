package objchange

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/providers"
)

// checker collects what is wrong with a provider's answer. Its texts are for
// the provider's developers and show values in Go syntax, except where the
// schema or a mark says that a value is sensitive.
type checker struct {
	errs      []error
	sensitive []cty.Path
	// schemaPaths lists what the schema calls sensitive; asked at the first problem.
	schemaPaths func() []cty.Path
}

// watch returns the values without marks, and remembers which are sensitive.
func (c *checker) watch(schema *providers.Block, vals ...*cty.Value) {
	for _, v := range vals {
		unmarked, marks := v.UnmarkDeepWithPaths()
		for _, m := range marks {
			c.sensitive = append(c.sensitive, m.Path)
		}
		*v = unmarked
	}
	c.schemaPaths = sync.OnceValue(func() []cty.Path {
		var paths []cty.Path
		for _, v := range vals {
			paths = append(paths, schema.SensitivePaths(*v)...)
		}
		return paths
	})
}

// fail reports a problem at a path. The values concerned are left out if they
// hold a sensitive one; below a sensitive one even the path says too much.
func (c *checker) fail(path cty.Path, text string, vals ...shown) {
	inside, around := c.hidden(path)
	switch {
	case inside != nil && c.reported(inside):
	case inside != nil:
		c.report(inside, "the answer is not consistent for a sensitive attribute")
	case around:
		c.report(path, text+" (values are sensitive)")
	default:
		c.report(path, text+describe(vals))
	}
}

func (c *checker) report(path cty.Path, text string) {
	c.errs = append(c.errs, path.NewErrorf("%s", text))
}

// reported tells whether a problem was reported at exactly this path.
func (c *checker) reported(path cty.Path) bool {
	return slices.ContainsFunc(c.errs, func(err error) bool {
		var pathErr cty.PathError
		return errors.As(err, &pathErr) && pathErr.Path.Equals(path)
	})
}

// shown is a value in a problem's text.
type shown struct {
	what  string
	value cty.Value
}

func describe(vals []shown) string {
	var b strings.Builder
	sep := ": "
	for _, v := range vals {
		fmt.Fprintf(&b, "%s%s is %#v", sep, v.what, v.value)
		sep = ", "
	}
	return b.String()
}

// hidden returns the path of the sensitive value in which the one at path lies,
// and whether the value at path holds a sensitive one.
func (c *checker) hidden(path cty.Path) (inside cty.Path, around bool) {
	paths := c.sensitive
	if c.schemaPaths != nil {
		paths = append(slices.Clip(paths), c.schemaPaths()...)
	}
	for _, sensitive := range paths {
		n := min(len(sensitive), len(path))
		switch {
		case !sensitive[:n].Equals(path[:n]):
		case n == len(sensitive) && n > 0:
			return sensitive, true
		default:
			around = true
		}
	}
	return nil, around
}

// extend returns a longer path that shares no memory with path.
func extend(path cty.Path, step cty.PathStep) cty.Path {
	out := make(cty.Path, len(path), len(path)+1)
	copy(out, path)
	return append(out, step)
}

// sorted returns the keys of a map in the order in which problems are reported.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// sortedIf returns those keys, in the same order, whose values are to be looked at.
// There are none as a rule, and then nothing is allocated.
func sortedIf[V any](m map[string]V, look func(string, V) bool) []string {
	var names []string
	for name, v := range m {
		if look(name, v) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// length returns the number of elements, 0 for what has none.
func length(v cty.Value) int {
	if v.IsNull() || !v.IsKnown() || !v.CanIterateElements() {
		return 0
	}
	return v.LengthInt()
}

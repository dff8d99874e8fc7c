package version

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apparentlymart/go-versions/versions"
	"github.com/apparentlymart/go-versions/versions/constraints"
)

// Version is a semantic version. It is comparable.
type Version = versions.Version

// Parse reads a version such as 1.2.3-beta1; missing parts are zero.
func Parse(text string) (Version, error) {
	v, err := versions.ParseVersion(text)
	if err != nil {
		return Version{}, fmt.Errorf("%q is not a version: %w", text, err)
	}
	return v, nil
}

// Constraints is a set of conditions that all must hold. The zero value allows
// every version that is not a prerelease.
type Constraints struct{ specs constraints.IntersectionSpec }

// ParseConstraints reads and joins constraints such as ">= 1.0, < 2.0". Empty
// texts are no constraints.
func ParseConstraints(texts ...string) (Constraints, error) {
	var out Constraints
	for _, text := range texts {
		if strings.TrimSpace(text) == "" {
			continue
		}
		specs, err := constraints.ParseRubyStyleMulti(text)
		if err != nil {
			return Constraints{}, fmt.Errorf("%q is not a version constraint: %w", text, err)
		}
		out.specs = append(out.specs, specs...)
	}
	return out, nil
}

// Allows tells whether v meets all constraints. A prerelease must be asked for exactly.
func (c Constraints) Allows(v Version) bool {
	return versions.MeetingConstraints(c.specs).Has(v)
}

// Newest returns the newest of the versions that meets all constraints.
func (c Constraints) Newest(available []Version) (Version, bool) {
	allowed := versions.MeetingConstraints(c.specs)
	ordered := slices.Clone(available)
	versions.List(ordered).Sort()
	for _, v := range slices.Backward(ordered) {
		if allowed.Has(v) {
			return v, true
		}
	}
	return Version{}, false
}

// String returns the constraints in the one form that lock files have: without
// repetitions, lower bounds first, versions in full. It is "" for no constraints.
func (c Constraints) String() string {
	specs := make([]constraints.SelectionSpec, 0, len(c.specs))
	for _, spec := range c.specs {
		full := constraints.SelectionSpec{Operator: spec.Operator, Boundary: spec.Boundary.ConstrainToZero()}
		if !slices.Contains(specs, full) {
			specs = append(specs, full)
		}
	}
	slices.SortFunc(specs, compareSpecs)
	texts := make([]string, len(specs))
	for i, spec := range specs {
		texts[i] = specText(spec)
	}
	return strings.Join(texts, ", ")
}

// order is how conditions on the same version follow each other in lock files.
var order = []constraints.SelectionOp{
	constraints.OpGreaterThan, constraints.OpGreaterThanOrEqual, constraints.OpEqual,
	constraints.OpGreaterThanOrEqualPatchOnly, constraints.OpGreaterThanOrEqualMinorOnly,
	constraints.OpLessThanOrEqual, constraints.OpLessThan, constraints.OpNotEqual,
}

var symbols = map[constraints.SelectionOp]string{
	constraints.OpGreaterThan: "> ", constraints.OpGreaterThanOrEqual: ">= ", constraints.OpEqual: "",
	constraints.OpGreaterThanOrEqualPatchOnly: "~> ", constraints.OpGreaterThanOrEqualMinorOnly: "~> ",
	constraints.OpLessThanOrEqual: "<= ", constraints.OpLessThan: "< ", constraints.OpNotEqual: "!= ",
}

func compareSpecs(a, b constraints.SelectionSpec) int {
	av, bv := boundary(a), boundary(b)
	switch {
	case av.LessThan(bv):
		return -1
	case bv.LessThan(av):
		return 1
	case av.Metadata != bv.Metadata:
		return strings.Compare(string(av.Metadata), string(bv.Metadata))
	}
	return slices.Index(order, a.Operator) - slices.Index(order, b.Operator)
}

func boundary(spec constraints.SelectionSpec) Version {
	b := spec.Boundary
	return Version{
		Major: b.Major.Num, Minor: b.Minor.Num, Patch: b.Patch.Num,
		Prerelease: versions.VersionExtra(b.Prerelease), Metadata: versions.VersionExtra(b.Metadata),
	}
}

func specText(spec constraints.SelectionSpec) string {
	b := spec.Boundary
	text := symbols[spec.Operator] + fmt.Sprintf("%s.%s", b.Major, b.Minor)
	// "~> 1.2" and "~> 1.2.0" differ: the number of parts says what may change.
	if spec.Operator != constraints.OpGreaterThanOrEqualMinorOnly {
		text += "." + b.Patch.String()
	}
	if b.Prerelease != "" {
		text += "-" + b.Prerelease
	}
	if b.Metadata != "" {
		text += "+" + b.Metadata
	}
	return text
}

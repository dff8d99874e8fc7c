package control

import (
	"fmt"
	"slices"
	"strings"
)

// Object names a real object to scopes.
type Object struct {
	// Address is that of the resource instance, Type its resource type.
	Address, Type string
	// Provider is the provider's source with its host, such as registry.terraform.io/hashicorp/aws.
	Provider string
}

// Includes tells whether a scope includes an object and does not exclude it.
func (s *Scope) Includes(object Object) bool {
	return slices.ContainsFunc(s.Include, func(m Match) bool { return m.selects(object) }) && !s.excludes(object)
}

// MayInclude is [Scope.Includes] of an object whose provider is not known.
func (s *Scope) MayInclude(object Object) bool {
	includes := func(m Match) bool {
		m.Provider = ""
		return m.selects(object)
	}
	excludes := func(m Match) bool { return m.Provider == "" && m.selects(object) }
	return slices.ContainsFunc(s.Include, includes) && !slices.ContainsFunc(s.Exclude, excludes)
}

func (s *Scope) excludes(object Object) bool {
	return slices.ContainsFunc(s.Exclude, func(m Match) bool { return m.selects(object) })
}

// selects tells whether every field of a match that is set fits an object.
func (m *Match) selects(object Object) bool {
	return (m.Type == "" || matchText(m.Type, object.Type)) &&
		(m.Address == "" || MatchAddress(m.Address, object.Address)) &&
		(m.Module == "" || MatchAddress(m.Module+".**", object.Address)) &&
		(m.Provider == "" || matchText(providerPattern(m.Provider), object.Provider))
}

// defaultHost is what a provider's source without a host stands for.
const defaultHost = "registry.terraform.io/"

func providerPattern(source string) string {
	if strings.Count(source, "/") < 2 {
		return defaultHost + source
	}
	return source
}

// Owned tells how much of something an agent owns.
type Owned int

// The answers of [Ownership].
const (
	OwnedNot    Owned = iota // nothing of it
	OwnedPartly              // some of what is below it
	OwnedWhole               // all of it
)

// Ownership says which attributes of one object an agent owns. It is the one rule
// that planning, applying and reporting drift share. The zero value owns nothing.
type Ownership struct {
	// Parts add up.
	Parts []OwnedPart `json:"parts,omitempty"`
	// Except are patterns over Type.attribute and Address.attribute.
	Except  []string `json:"except,omitempty"`
	Type    string   `json:"type,omitempty"`
	Address string   `json:"address,omitempty"`
}

// OwnedPart is what one entry of a scope gives: all attributes, or only some, but
// for those excepted. Both hold patterns of paths inside the object.
type OwnedPart struct {
	Only   []string `json:"only,omitempty"`
	Except []string `json:"except,omitempty"`
}

// Ownership returns which attributes of an object a scope gives; those of several
// entries that include it add up.
func (s *Scope) Ownership(object Object) Ownership {
	var o Ownership
	if s.excludes(object) {
		return o
	}
	for i := range s.Include {
		if m := &s.Include[i]; m.selects(object) {
			o.Parts = append(o.Parts, OwnedPart{m.Attributes, m.Except})
		}
	}
	o.Except, o.Type, o.Address = s.IgnoreAttributes, object.Type, object.Address
	return o
}

// WholeOwnership owns everything.
var WholeOwnership = Ownership{Parts: []OwnedPart{{}}}

// OnlyOwnership owns some paths.
func OnlyOwnership(paths []string) Ownership {
	if len(paths) == 0 {
		return Ownership{}
	}
	return Ownership{Parts: []OwnedPart{{Only: paths}}}
}

// Without returns the ownership without some paths.
func (o Ownership) Without(paths []string) Ownership {
	if len(paths) == 0 {
		return o
	}
	parts := make([]OwnedPart, len(o.Parts))
	for i, part := range o.Parts {
		parts[i] = OwnedPart{part.Only, append(slices.Clone(part.Except), paths...)}
	}
	o.Parts = parts
	return o
}

// Entire tells that every attribute is owned.
func (o Ownership) Entire() bool {
	whole := slices.ContainsFunc(o.Parts, func(p OwnedPart) bool { return len(p.Only)+len(p.Except) == 0 })
	return whole && len(o.Except) == 0
}

// Host tells whether the object as a whole is this agent's: it may be created,
// replaced and deleted. Who owns only attributes that are listed may not.
func (o Ownership) Host() bool {
	return slices.ContainsFunc(o.Parts, func(p OwnedPart) bool { return len(p.Only) == 0 })
}

// Of tells how much is owned of the value at a path such as a.b["c"]; "" is the object.
func (o Ownership) Of(path string) Owned {
	if o.excepted(path) {
		return OwnedNot
	}
	most := OwnedNot
	for _, part := range o.Parts {
		most = max(most, part.of(path))
	}
	if most == OwnedWhole && o.exceptsBelow(path) {
		return OwnedPartly
	}
	return most
}

// Owns tells whether all of the value at a path is owned.
func (o Ownership) Owns(path string) bool { return o.Of(path) == OwnedWhole }

// Covers tells whether a path is owned, whatever may be below it: enough where nothing
// is, as of a text or a number.
func (o Ownership) Covers(path string) bool {
	return !o.excepted(path) && slices.ContainsFunc(o.Parts, func(p OwnedPart) bool {
		return (len(p.Only) == 0 || covered(p.Only, path)) && !covered(p.Except, path)
	})
}

func (p OwnedPart) of(path string) Owned {
	switch {
	case covered(p.Except, path):
		return OwnedNot
	case len(p.Only) > 0 && !covered(p.Only, path):
		if anyBelow(p.Only, path) {
			return OwnedPartly
		}
		return OwnedNot
	case anyBelow(p.Except, path):
		return OwnedPartly
	}
	return OwnedWhole
}

func (o Ownership) excepted(path string) bool {
	return path != "" && (coveredFrom(o.Except, o.Type, path) || coveredFrom(o.Except, o.Address, path))
}

func (o Ownership) exceptsBelow(path string) bool {
	return slices.ContainsFunc([]string{o.Type, o.Address}, func(prefix string) bool {
		return anyBelow(o.Except, strings.TrimSuffix(prefix+"."+path, "."))
	})
}

// covered tells whether a pattern selects a path or a step above it.
func covered(patterns []string, path string) bool {
	for part := path; part != ""; part = parentPath(part) {
		if slices.ContainsFunc(patterns, func(p string) bool { return MatchAddress(p, part) }) {
			return true
		}
	}
	return false
}

// coveredFrom is covered for patterns that begin with a type or an address.
func coveredFrom(patterns []string, prefix, path string) bool {
	for part := path; part != ""; part = parentPath(part) {
		if slices.ContainsFunc(patterns, func(p string) bool { return MatchAddress(p, prefix+"."+part) }) {
			return true
		}
	}
	return false
}

// anyBelow tells whether a pattern may select something below a path. It errs to
// the side of yes.
func anyBelow(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return reachesBelow(p, path) })
}

// reachesBelow tells whether what a pattern selects can begin with a path: some
// first steps of the pattern take all of the path, and something is left.
func reachesBelow(pattern, path string) bool {
	steps := SplitSteps(pattern)
	if path == "" {
		return len(steps) > 0
	}
	if slices.Contains(steps, "**") {
		return true
	}
	parts := SplitSteps(path)
	if len(parts) > len(steps) {
		return false
	}
	for i, part := range parts[:len(parts)-1] {
		if !matchStep(steps[i], part) {
			return false
		}
	}
	last := len(parts) - 1
	if keys := countKeys(steps[last]); keys > countKeys(parts[last]) {
		name, _, _ := strings.Cut(steps[last], "[")
		have, _, _ := strings.Cut(parts[last], "[")
		return matchText(name, have) || strings.Contains(name, "*")
	}
	return len(steps) > len(parts) && matchStep(steps[last], parts[last])
}

// countKeys counts the keys in brackets behind the name of a step.
func countKeys(step string) int {
	n := 0
	for step != "" {
		above := parentPath(step)
		if above != "" || step[0] == '[' {
			n++
		}
		step = above
	}
	return n
}

// Equal tells whether both are the same rule.
func (o Ownership) Equal(other Ownership) bool {
	return slices.EqualFunc(o.Parts, other.Parts, func(a, b OwnedPart) bool {
		return slices.Equal(a.Only, b.Only) && slices.Equal(a.Except, b.Except)
	}) && slices.Equal(o.Except, other.Except) && o.Type == other.Type && o.Address == other.Address
}

// String writes the rule for people who look at what a program does.
func (o *Ownership) String() string {
	if o == nil {
		return "everything"
	}
	return fmt.Sprintf("%+v but %v", o.Parts, o.Except)
}

package control

import (
	"fmt"
	"slices"
	"strings"
)

// Ref names a declared document.
type Ref struct {
	Kind        Kind
	Environment string
	Name        string
}

// Declared is a document that the provider declares and an agent obeys.
type Declared interface {
	Document
	// Ref names the document; it follows from the content.
	Ref() Ref
}

var (
	_ Declared = Agent{}
	_ Declared = Scope{}
	_ Declared = BreakGlassPolicy{}
	_ Declared = Policy{}
)

// Ref implements [Declared].
func (a Agent) Ref() Ref { return Ref{KindAgent, a.Environment, a.Name} }

// Ref implements [Declared].
func (s Scope) Ref() Ref { return Ref{KindScope, s.Environment, s.Name} }

// Ref implements [Declared].
func (p BreakGlassPolicy) Ref() Ref { return Ref{KindBreakGlass, p.Environment, p.Name} }

// String returns ENVIRONMENT/KIND/NAME.
func (r Ref) String() string { return r.Environment + "/" + string(r.Kind) + "/" + r.Name }

// Validate tells whether the names follow the rules.
func (r Ref) Validate() error {
	var check checker
	check.that("kind", slices.Contains(kinds, r.Kind), "must be agents, scopes, break-glass or policies")
	check.name("environment", r.Environment)
	check.name("name", r.Name)
	return check.err()
}

var kinds = []Kind{KindAgent, KindScope, KindBreakGlass, KindPolicy}

const documentSuffix = ".json"

// Target returns the document's name as a target of the repository.
func (r Ref) Target() string {
	return "environments/" + r.String() + documentSuffix
}

// ParseTarget is the reverse of [Ref.Target].
func ParseTarget(target string) (Ref, error) {
	parts := strings.Split(target, "/")
	if len(parts) != 4 || parts[0] != "environments" || !strings.HasSuffix(parts[3], documentSuffix) {
		return Ref{}, fmt.Errorf("target %q names no control document", target)
	}
	ref := Ref{Kind: Kind(parts[2]), Environment: parts[1], Name: strings.TrimSuffix(parts[3], documentSuffix)}
	if err := ref.Validate(); err != nil {
		return Ref{}, fmt.Errorf("target %q names no control document: %w", target, err)
	}
	return ref, nil
}

// DecodeDeclared decodes the document that ref names, and refuses one that says it is another.
func DecodeDeclared(ref Ref, data []byte) (Declared, error) {
	var doc Declared
	var err error
	switch ref.Kind {
	case KindAgent:
		doc, err = Decode[Agent](data)
	case KindScope:
		doc, err = Decode[Scope](data)
	case KindBreakGlass:
		doc, err = Decode[BreakGlassPolicy](data)
	case KindPolicy:
		doc, err = Decode[Policy](data)
	default:
		err = fmt.Errorf("kind %q is not known", ref.Kind)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ref, err)
	}
	if doc.Ref() != ref {
		return nil, fmt.Errorf("%s: %w: it says that it is %s", ref, ErrMalformed, doc.Ref())
	}
	return doc, nil
}

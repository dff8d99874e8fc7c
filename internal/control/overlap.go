package control

import (
	"slices"
	"strings"
)

// overlapBudget bounds the work of one comparison. Scopes that people write need
// thousands of steps; what needs more counts as overlapping.
const overlapBudget = 3_000_000

// Overlap tells whether two scopes give the same attribute of some object to both,
// and names one: the shortest address, with a path where attributes are told
// apart. It is decided for all addresses that there can be, not for those that
// there are.
func Overlap(a, b Scope) (example string, overlaps bool) {
	search := newOverlapSearch(&a, &b)
	for len(search.queue) > 0 {
		word := search.queue[0]
		search.queue = search.queue[1:]
		if search.accepts(word) {
			return strings.ReplaceAll(word.text, " ", "."), true
		}
		search.expand(word)
		if search.budget <= 0 {
			return "more than can be compared; write fewer or simpler patterns", true
		}
	}
	return "", false
}

// word is a word that has been read, with what it means for both scopes.
type word struct {
	text  string // without the provider
	lexer lexer
	sides [2]overlapSide
}

// overlapSearch looks for the shortest word that both scopes own, breadth first.
type overlapSearch struct {
	queue    []word
	seen     map[string]bool
	alphabet []byte
	// paths tells that attributes are told apart.
	paths  bool
	budget int
}

func newOverlapSearch(a, b *Scope) *overlapSearch {
	s := &overlapSearch{seen: map[string]bool{}, budget: overlapBudget}
	begin := word{lexer: lexer{part: inAddress}}
	providers := false
	for i, scope := range []*Scope{a, b} {
		begin.sides[i] = newOverlapSide(scope)
		s.paths = s.paths || scope.TellsAttributesApart()
		providers = providers || slices.ContainsFunc(append(slices.Clone(scope.Include), scope.Exclude...), func(m Match) bool { return m.Provider != "" })
	}
	if providers {
		begin.lexer.part = inProvider
	}
	s.alphabet = alphabetOf(a, b)
	s.queue = []word{begin}
	return s
}

// TellsAttributesApart tells whether a scope owns some objects in part only.
func (s *Scope) TellsAttributesApart() bool {
	return len(s.IgnoreAttributes) > 0 || slices.ContainsFunc(s.Include, func(m Match) bool { return len(m.Attributes)+len(m.Except) > 0 })
}

// accepts tells whether a word is complete and both scopes own what it names.
func (s *overlapSearch) accepts(w word) bool {
	if !w.lexer.mayEnd() || s.paths != (w.lexer.part == inPath) {
		return false
	}
	for _, side := range w.sides {
		if s.paths && !side.ownsPath() || !s.paths && !side.ownsObject() {
			return false
		}
	}
	return true
}

// expand adds the words that are one byte longer and may still lead somewhere.
func (s *overlapSearch) expand(w word) {
	for _, c := range s.alphabet {
		lexer, ends, ok := w.lexer.next(c)
		if !ok || (lexer.part == inPath && !s.paths) {
			continue
		}
		next := word{text: w.text, lexer: lexer}
		if w.lexer.part != inProvider {
			next.text += string(c)
		}
		alive := true
		for i, side := range w.sides {
			s.budget -= side.size()
			next.sides[i], ok = side.read(w.lexer, c, ends)
			alive = alive && ok
		}
		if !alive {
			continue
		}
		if key := next.key(); !s.seen[key] {
			s.seen[key] = true
			s.queue = append(s.queue, next)
		}
	}
}

// key tells words apart that can go on differently.
func (w word) key() string {
	l := w.lexer
	key := append([]byte{byte(l.part), byte(l.role), byte(l.at), byte(l.slashes)}, l.keyword...) //nolint:gosec // all are counts of small patterns
	for _, side := range w.sides {
		key = side.appendKey(append(key, '/'))
	}
	return string(key)
}

// alphabetOf lists the bytes that patterns name and, for each class of bytes, one
// that none of them names.
func alphabetOf(scopes ...*Scope) []byte {
	used := map[byte]bool{}
	for _, c := range []byte("module.[]\"\\/ ") {
		used[c] = true
	}
	for _, scope := range scopes {
		patterns := slices.Clone(scope.IgnoreAttributes)
		for _, m := range append(slices.Clone(scope.Include), scope.Exclude...) {
			patterns = append(append(append(patterns, m.Address, m.Type, m.Module), m.Attributes...), m.Except...)
			if m.Provider != "" {
				patterns = append(patterns, providerPattern(m.Provider))
			}
		}
		for _, pattern := range patterns {
			for i := range len(pattern) {
				used[pattern[i]] = true
			}
		}
	}
	for _, class := range []string{"zyxwvutsrqponmlkjihgfedcbaZYXWVUTSRQPONMLKJIHGFEDCBA", "0123456789"} {
		if i := strings.IndexFunc(class, func(r rune) bool { return !used[byte(r)] }); i >= 0 { //nolint:gosec // a class is made of bytes
			used[class[i]] = true
		}
	}
	var out []byte
	for c := range 256 {
		if used[byte(c)] {
			out = append(out, byte(c))
		}
	}
	slices.Reverse(out) // letters first: examples are easier to read
	return out
}

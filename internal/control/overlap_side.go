package control

import (
	"slices"
	"strconv"
)

// overlapSide is what a word means for one scope so far.
type overlapSide struct {
	scope    *Scope
	includes []matchProgress
	excludes []matchProgress
	// ignores follow patterns ADDRESS.attribute, typed those of the form TYPE.attribute:
	// while the name is read they wait.
	ignores, typed []follower
	ignored        bool
}

// matchProgress is how far one entry of a scope has come.
type matchProgress struct {
	entry                           int
	provider, kind, address, module *follower
	// only and except follow the entry's attributes; covered and excepted tell that a
	// step of the path was named by one of them.
	only, except      []follower
	covered, excepted bool
}

func newOverlapSide(scope *Scope) overlapSide {
	side := overlapSide{scope: scope}
	for i := range scope.Include {
		side.includes = append(side.includes, newProgress(i, &scope.Include[i]))
	}
	for i := range scope.Exclude {
		side.excludes = append(side.excludes, newProgress(i, &scope.Exclude[i]))
	}
	side.ignores, side.typed = followAll(scope.IgnoreAttributes), followAll(scope.IgnoreAttributes)
	return side
}

func newProgress(entry int, m *Match) matchProgress {
	p := matchProgress{entry: entry}
	start := func(set string, f follower) *follower {
		if set == "" {
			return nil
		}
		return &f
	}
	p.provider = start(m.Provider, followText(providerPattern(m.Provider)))
	p.kind = start(m.Type, followText(m.Type))
	p.address = start(m.Address, follow(m.Address))
	p.module = start(m.Module, follow(m.Module+".**"))
	return p
}

// size is the work of reading a byte.
func (s *overlapSide) size() int {
	return 1 + 4*len(s.includes) + 4*len(s.excludes) + len(s.ignores) + len(s.typed)
}

// read goes on by a byte that was read by a lexer and ends something or not. ok is
// false if the scope cannot own anything that begins like this.
func (s overlapSide) read(at lexer, c byte, ends boundary) (next overlapSide, ok bool) {
	next = overlapSide{scope: s.scope, ignored: s.ignored}
	if at.part == inAddress && ends == endsPart {
		return s.beginPath()
	}
	if at.part == inPath {
		return s.readPath(c, ends)
	}
	for _, p := range s.includes {
		if moved, alive := p.read(at, c, ends); alive {
			next.includes = append(next.includes, moved)
		}
	}
	for _, p := range s.excludes {
		if moved, alive := p.read(at, c, ends); alive {
			next.excludes = append(next.excludes, moved)
		}
	}
	if at.part == inProvider {
		next.ignores, next.typed = s.ignores, s.typed
		return next, len(next.includes) > 0
	}
	next.ignores = readAll(s.ignores, c, ends)
	next.typed = s.readTyped(at, c, ends)
	return next, len(next.includes) > 0
}

// readTyped follows the patterns TYPE.attribute: they begin anew where a type may
// begin, and what comes behind the type is no part of them.
func (s *overlapSide) readTyped(at lexer, c byte, ends boundary) []follower {
	switch {
	case at.role == roleModule && ends == endsStep:
		return followAll(s.scope.IgnoreAttributes)
	case at.role != roleType:
		return s.typed
	case ends == endsStep && at.keyword == "module":
		return nil
	}
	return readAll(s.typed, c, ends)
}

// readAll moves followers on and drops those that cannot match any more.
func readAll(in []follower, c byte, ends boundary) []follower {
	var out []follower
	for _, f := range in {
		if ends == endsNothing {
			f = f.read(c)
		} else {
			f = f.dot()
		}
		if !f.dead() {
			out = append(out, f)
		}
	}
	return out
}

// ownsObject tells whether the address that was read is in the scope.
func (s *overlapSide) ownsObject() bool {
	return slices.ContainsFunc(s.includes, matchProgress.selects) && !slices.ContainsFunc(s.excludes, matchProgress.selects)
}

// beginPath keeps the entries that select the object.
func (s *overlapSide) beginPath() (overlapSide, bool) {
	next := overlapSide{scope: s.scope}
	if !s.ownsObject() {
		return next, false
	}
	for _, p := range s.includes {
		if p.selects() {
			m := &s.scope.Include[p.entry]
			next.includes = append(next.includes, matchProgress{entry: p.entry, only: followAll(m.Attributes), except: followAll(m.Except), covered: len(m.Attributes) == 0})
		}
	}
	next.ignores = append(readAll(s.ignores, ' ', endsPart), s.typed...)
	return next, true
}

func followAll(patterns []string) []follower {
	var out []follower
	for _, pattern := range patterns {
		out = append(out, follow(pattern))
	}
	return out
}

// readPath goes on inside the path. A key or a dot ends what a pattern may name.
func (s *overlapSide) readPath(c byte, ends boundary) (overlapSide, bool) {
	next := overlapSide{scope: s.scope, ignored: s.ignored}
	step := ends == endsStep || c == '['
	next.ignored = next.ignored || step && anyMatches(s.ignores)
	next.ignores = readAll(s.ignores, c, ends)
	for _, p := range s.includes {
		p.covered = p.covered || step && anyMatches(p.only)
		p.excepted = p.excepted || step && anyMatches(p.except)
		p.only, p.except = readAll(p.only, c, ends), readAll(p.except, c, ends)
		if !p.excepted && (p.covered || len(p.only) > 0) {
			next.includes = append(next.includes, p)
		}
	}
	return next, !next.ignored && len(next.includes) > 0
}

// ownsPath tells whether the path that was read is owned.
func (s *overlapSide) ownsPath() bool {
	return !s.ignored && !anyMatches(s.ignores) && slices.ContainsFunc(s.includes, func(p matchProgress) bool {
		return (p.covered || anyMatches(p.only)) && !p.excepted && !anyMatches(p.except)
	})
}

func anyMatches(in []follower) bool { return slices.ContainsFunc(in, follower.matches) }

// read moves an entry on; alive is false if it cannot select what is being read.
func (p matchProgress) read(at lexer, c byte, ends boundary) (next matchProgress, alive bool) {
	alive = true
	move := func(f *follower) *follower {
		if f == nil {
			return nil
		}
		moved := readAll([]follower{*f}, c, ends)
		if len(moved) == 0 {
			alive = false
			return nil
		}
		return &moved[0]
	}
	if at.part == inProvider {
		if ends == endsPart {
			alive = p.provider == nil || p.provider.matches()
			p.provider = nil
			return p, alive
		}
		p.provider = move(p.provider)
		return p, alive
	}
	p.address, p.module = move(p.address), move(p.module)
	if p.kind != nil && at.role == roleType {
		p.kind, alive = p.readKind(at, c, ends, alive)
	}
	return p, alive
}

// readKind follows the pattern of the type, which begins anew behind each module
// and is done with once the type was read.
func (p matchProgress) readKind(at lexer, c byte, ends boundary, alive bool) (*follower, bool) {
	switch {
	case ends == endsStep && at.keyword == "module":
		f := p.kind.again()
		return &f, alive
	case ends == endsStep:
		return nil, alive && p.kind.matches()
	}
	f := p.kind.read(c) // kept also when it is dead: this may become the word module
	return &f, alive
}

// selects tells whether the entry selects the address that was read.
func (p matchProgress) selects() bool {
	return (p.address == nil || p.address.matches()) && (p.module == nil || p.module.matches())
}

func (s *overlapSide) appendKey(key []byte) []byte {
	for _, list := range [][]matchProgress{s.includes, s.excludes} {
		for _, p := range list {
			key = appendFlags(appendNumber(key, p.entry), p.covered, p.excepted)
			for _, f := range []*follower{p.provider, p.kind, p.address, p.module} {
				if f != nil {
					key = f.appendKey(key)
				}
				key = append(key, ',')
			}
			key = appendFollowers(appendFollowers(key, p.only), p.except)
		}
		key = append(key, '|')
	}
	return appendFlags(appendFollowers(appendFollowers(key, s.ignores), s.typed), s.ignored)
}

func appendFollowers(key []byte, list []follower) []byte {
	for _, f := range list {
		key = f.appendKey(key)
	}
	return append(key, ')')
}

func appendFlags(key []byte, flags ...bool) []byte {
	for _, flag := range flags {
		if flag {
			key = append(key, '+')
		} else {
			key = append(key, '-')
		}
	}
	return key
}

func appendNumber(key []byte, n int) []byte { return append(strconv.AppendInt(key, int64(n), 36), ';') }

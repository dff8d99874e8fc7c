package control

import (
	"slices"
	"strings"
)

// stepPattern is one step of a compiled pattern.
type stepPattern struct {
	text string
	// any stands for any number of steps; keyed tells that the pattern has a key of its own.
	any, keyed bool
}

// compilePattern prepares a pattern of addresses or paths for being followed byte by byte.
func compilePattern(pattern string) []stepPattern {
	var out []stepPattern
	for _, text := range SplitSteps(pattern) {
		out = append(out, stepPattern{text: text, any: text == "**", keyed: strings.Contains(text, "[")})
	}
	return out
}

// place is where in a pattern a word may be: in which step, and how far. Two
// values of offset are no offsets.
type place struct{ step, offset int }

const (
	anywhere  = -1 // in a step that "**" stands for
	behindKey = -2 // in a key that the pattern does not ask about
)

// follower follows one pattern along a word. places are sorted; none means that the
// pattern cannot match any more.
type follower struct {
	pattern string
	steps   []stepPattern
	places  []place
}

// follow begins at the start of a word.
func follow(pattern string) follower {
	return follower{pattern: pattern, steps: compilePattern(pattern)}.enter([]int{0})
}

// followText begins at the start of a text that the pattern matches as a whole.
func followText(pattern string) follower {
	return follower{pattern: pattern, steps: []stepPattern{{text: pattern, keyed: true}}}.enter([]int{0})
}

// again begins anew with the same pattern.
func (f follower) again() follower { return f.enter([]int{0}) }

// appendKey tells followers apart that can go on differently.
func (f follower) appendKey(key []byte) []byte {
	key = append(append(key, f.pattern...), 0)
	for _, p := range f.places {
		key = appendNumber(appendNumber(key, p.step), p.offset)
	}
	return key
}

// enter begins a step of the word at the given steps of the pattern.
func (f follower) enter(at []int) follower {
	next := follower{pattern: f.pattern, steps: f.steps}
	for _, i := range f.skipAny(at) {
		switch {
		case i == len(f.steps):
			next.add(place{i, 0})
		case f.steps[i].any:
			next.add(place{i, anywhere})
		default:
			next.advance(place{i, 0})
		}
	}
	return next
}

// skipAny adds the steps that are reached because "**" stands for none.
func (f follower) skipAny(at []int) []int {
	var out []int
	for _, i := range at {
		for ; i < len(f.steps) && f.steps[i].any; i++ {
			out = append(out, i)
		}
		out = append(out, i)
	}
	return out
}

// advance adds a place and those behind "*" that stands for nothing.
func (f *follower) advance(p place) {
	text := f.steps[p.step].text
	for ; p.offset < len(text) && text[p.offset] == '*'; p.offset++ {
		f.add(p)
	}
	f.add(p)
}

func (f *follower) add(p place) {
	at, found := slices.BinarySearchFunc(f.places, p, func(a, b place) int {
		if a.step != b.step {
			return a.step - b.step
		}
		return a.offset - b.offset
	})
	if !found {
		f.places = slices.Insert(f.places, at, p)
	}
}

// read goes on inside a step.
func (f follower) read(c byte) follower {
	next := follower{pattern: f.pattern, steps: f.steps}
	for _, p := range f.places {
		if p.step == len(f.steps) {
			continue // the pattern ends before the word
		}
		step := f.steps[p.step]
		switch {
		case p.offset < 0:
			next.add(p)
		case c == '[' && !step.keyed:
			if p.offset == len(step.text) {
				next.add(place{p.step, behindKey})
			}
		case p.offset < len(step.text) && step.text[p.offset] == '*':
			next.advance(p)
		case p.offset < len(step.text) && step.text[p.offset] == c:
			next.advance(place{p.step, p.offset + 1})
		}
	}
	return next
}

// ended are the steps of the pattern that may come after a step of the word that ends here.
func (f follower) ended() []int {
	var out []int
	for _, p := range f.places {
		switch {
		case p.step == len(f.steps):
		case p.offset == anywhere:
			out = append(out, p.step)
		case p.offset == behindKey || p.offset == len(f.steps[p.step].text):
			out = append(out, p.step+1)
		}
	}
	return out
}

// dot ends a step of the word.
func (f follower) dot() follower { return f.enter(f.ended()) }

// matches tells whether the pattern takes the word as far as it was read.
func (f follower) matches() bool { return slices.Contains(f.skipAny(f.ended()), len(f.steps)) }

// dead tells that the pattern cannot match any more.
func (f follower) dead() bool { return len(f.places) == 0 }

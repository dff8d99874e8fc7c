package states

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// scanner goes through JSON that is known to be valid, without a copy of it. Decoders
// of the standard library make garbage for every token, which shows with states of many objects.
type scanner struct {
	src []byte
	pos int
}

// newScanner returns a scanner at the beginning of a value, false if the text is not one valid value.
func newScanner(src []byte) (*scanner, bool) {
	return &scanner{src: src}, json.Valid(src)
}

// peek returns the first byte of what comes next.
func (s *scanner) peek() byte {
	for {
		switch c := s.src[s.pos]; c {
		case ' ', '\t', '\r', '\n':
			s.pos++
		default:
			return c
		}
	}
}

// enter goes into the list or object that comes next, and tells whether there is one.
func (s *scanner) enter(open byte) bool {
	if s.peek() != open {
		return false
	}
	s.pos++
	return true
}

// more goes to the next element of the list or object that the scanner is in, or leaves it if there is none.
func (s *scanner) more() bool {
	switch s.peek() {
	case ',':
		s.pos++
		s.peek()
		return true
	case ']', '}':
		s.pos++
		return false
	default: // the first
		return true
	}
}

// key takes the name of a member.
func (s *scanner) key() string {
	name := s.text()
	s.peek() // the colon
	s.pos++
	return name
}

// text takes a string.
func (s *scanner) text() string {
	raw := s.value()
	plain := raw[1 : len(raw)-1]
	for _, c := range plain {
		if c == '\\' || c >= utf8.RuneSelf {
			return unescaped(raw)
		}
	}
	return string(plain)
}

func unescaped(raw []byte) string {
	var out string
	if err := json.Unmarshal(raw, &out); err != nil {
		return "" // which a valid string is not
	}
	return out
}

// value takes a whole value as it is written.
func (s *scanner) value() []byte {
	first := s.peek()
	begin := s.pos
	switch first {
	case '"':
		s.skipText()
	case '{', '[':
		s.skipNested()
	default: // a number, true, false or null
		for s.pos < len(s.src) && !bytes.ContainsRune([]byte(",]} \t\r\n"), rune(s.src[s.pos])) {
			s.pos++
		}
	}
	return s.src[begin:s.pos]
}

func (s *scanner) skipText() {
	for s.pos++; s.src[s.pos] != '"'; s.pos++ {
		if s.src[s.pos] == '\\' {
			s.pos++
		}
	}
	s.pos++
}

func (s *scanner) skipNested() {
	for depth := 0; ; {
		switch s.src[s.pos] {
		case '"':
			s.skipText()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		s.pos++
		if depth == 0 {
			return
		}
	}
}

package states

import (
	"encoding/json"
	"unicode/utf8"
)

// scanner goes through JSON without a copy of it. Decoders of the standard library make garbage
// for every token, which shows with states of many objects. It checks nothing: with text that is not
// valid it stops at the end at the latest, and what it returned means nothing.
type scanner struct {
	src []byte
	pos int
}

// peek returns the first byte of what comes next, 0 at the end.
func (s *scanner) peek() byte {
	for ; s.pos < len(s.src); s.pos++ {
		switch c := s.src[s.pos]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
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
	case 0:
		return false
	default: // the first
		return true
	}
}

// elements takes the values of the list that the scanner is in, and leaves it. It tells whether there was nothing else in it.
func (s *scanner) elements() (out [][]byte, ok bool) {
	if s.peek() == ']' {
		s.pos++
		return nil, true
	}
	for {
		out = append(out, s.value())
		switch s.peek() {
		case ',':
			s.pos++
		case ']':
			s.pos++
			return out, true
		default:
			return nil, false
		}
	}
}

// key takes the name of a member.
func (s *scanner) key() string {
	name := s.text()
	if s.peek() == ':' {
		s.pos++
	}
	return name
}

// text takes a string.
func (s *scanner) text() string {
	raw := s.value()
	if len(raw) < 2 {
		return ""
	}
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
		s.skipWord()
	}
	return s.src[begin:s.pos]
}

// skipWord passes over at least one byte, if there is one.
func (s *scanner) skipWord() {
	for begin := s.pos; s.pos < len(s.src); s.pos++ {
		switch s.src[s.pos] {
		case ',', ':', '[', ']', '{', '}', '"', ' ', '\t', '\r', '\n':
			if s.pos == begin {
				s.pos++
			}
			return
		}
	}
}

func (s *scanner) skipText() {
	for s.pos++; s.pos < len(s.src); s.pos++ {
		switch s.src[s.pos] {
		case '"':
			s.pos++
			return
		case '\\':
			s.pos++
		}
	}
	s.pos = len(s.src)
}

func (s *scanner) skipNested() {
	for depth := 0; s.pos < len(s.src); {
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

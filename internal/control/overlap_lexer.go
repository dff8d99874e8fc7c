package control

import "strings"

// What scopes select is decided over words of the form
//
//	PROVIDER ADDRESS PATH
//
// such as "registry.terraform.io/hashicorp/aws module.a.aws_vpc.b[0] tags["x"]".
// lexer reads a word byte by byte and knows where it is, so that only words that
// name something are considered. It is comparable.
type lexer struct {
	part wordPart
	role stepRole
	at   position
	// slashes counts those of the provider; keyword follows "module" and "data".
	slashes int
	keyword string
}

type wordPart int

const (
	inProvider wordPart = iota
	inAddress
	inPath
)

// stepRole is what a step of an address is.
type stepRole int

const (
	roleType   stepRole = iota // a resource type, or the word module
	roleModule                 // name and key of a module call
	roleName                   // name and key of a resource
)

// position is where inside a step the lexer is.
type position int

const (
	atStart position = iota
	inName
	inKey // right behind the bracket
	inNumber
	inText
	inEscape
	afterText
	afterKey
)

// boundary is what a byte ends.
type boundary int

const (
	endsNothing boundary = iota
	endsStep             // a dot
	endsPart             // a space
)

// next reads a byte; ok is false if no word goes on like that.
func (l lexer) next(c byte) (lexer, boundary, bool) {
	if l.part == inProvider {
		return l.provider(c)
	}
	if c == ' ' && l.mayEnd() && l.part == inAddress {
		return lexer{part: inPath}, endsPart, true
	}
	if c == '.' && l.stepEnds() {
		return l.step()
	}
	return l.inside(c)
}

func (l lexer) provider(c byte) (lexer, boundary, bool) {
	switch {
	case c == ' ':
		return lexer{part: inAddress}, endsPart, l.slashes == 2 && l.at == inName
	case c == '/':
		l.slashes++
		ok := l.at == inName && l.slashes <= 2
		l.at = atStart
		return l, endsNothing, ok
	}
	l.at = inName
	return l, endsNothing, isLetter(c) || isDigit(c) || c == '-' || c == '_' || c == '.' && l.slashes == 0
}

// step goes on to the next step.
func (l lexer) step() (lexer, boundary, bool) {
	next := lexer{part: l.part}
	if l.part == inPath {
		return next, endsStep, true
	}
	switch {
	case l.role == roleType && l.keyword == "module":
		next.role = roleModule
	case l.role == roleType && l.keyword == "data":
		return l, endsStep, false
	case l.role == roleType:
		next.role = roleName
	case l.role == roleName:
		return l, endsStep, false
	}
	return next, endsStep, true
}

// stepEnds tells whether a step may end here.
func (l lexer) stepEnds() bool { return l.at == inName || l.at == afterKey }

// mayEnd tells whether an address or path may end here.
func (l lexer) mayEnd() bool {
	return l.stepEnds() && (l.part == inPath || l.part == inAddress && l.role == roleName)
}

// inside reads a byte of a name or key.
func (l lexer) inside(c byte) (lexer, boundary, bool) {
	ok := true
	switch l.at {
	case atStart:
		ok = isLetter(c) || c == '_'
		l.at, l.keyword = inName, keywordAfter("", c)
	case inName:
		if c == '[' {
			ok = l.part == inPath || l.role != roleType
			l.at = inKey
			break
		}
		ok = isLetter(c) || isDigit(c) || c == '_' || c == '-'
		l.keyword = keywordAfter(l.keyword, c)
	case afterKey:
		ok = c == '[' && l.part == inPath
		l.at = inKey
	case inKey:
		l.at = inNumber
		if c == '"' {
			l.at = inText
			break
		}
		ok = isDigit(c)
	case inNumber:
		if c == ']' {
			l.at = afterKey
			break
		}
		ok = isDigit(c)
	case inText:
		switch c {
		case '"':
			l.at = afterText
		case '\\':
			l.at = inEscape
		}
	case inEscape:
		ok = c == '"' || c == '\\' || c == 'n'
		l.at = inText
	case afterText:
		ok = c == ']'
		l.at = afterKey
	}
	return l, endsNothing, ok
}

// keywordAfter follows the names that are none of a type: "-" stands for all others.
func keywordAfter(so string, c byte) string {
	for _, word := range []string{"module", "data"} {
		if next := so + string(c); so != "-" && strings.HasPrefix(word, next) {
			return next
		}
	}
	return "-"
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80 }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

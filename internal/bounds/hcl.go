package bounds

import (
	"bytes"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

const (
	// maxDepth bounds brackets, blocks and templates inside each other. People write
	// fewer than 50.
	maxDepth = 500
	// maxChain bounds the operators, index brackets and template sequences that one
	// expression chains and that stand around it: each is a level for the parser too.
	maxChain = 10_000
	// maxExponent bounds the exponent of a number: writing 1e999999999 out takes a gigabyte.
	maxExponent = 4
	// harmless is a size in bytes below which no nesting exhausts the stack, whose
	// gigabyte takes about a hundred thousand levels. Most files are not looked at.
	harmless = 32 << 10
	// pieceSize is how much of a source is looked at in one go, in bytes, or a bit more:
	// tokens take many times the size of their source.
	pieceSize = 64 << 10
)

// HCL refuses configuration whose nesting no parser should follow. It returns nil
// for everything else, right or wrong.
func HCL(src []byte, filename string) hcl.Diagnostics {
	if !suspicious(src) {
		return nil
	}
	for at := hcl.InitialPos; len(src) > 0; {
		var tokens hclsyntax.Tokens
		tokens, src = piece(src, filename, at)
		if diags := nesting(tokens); diags.HasErrors() {
			return diags
		}
		at = tokens[len(tokens)-1].Range.End
	}
	return nil
}

// Pieces cuts a long configuration where its text looks as if a block of the outermost level
// ended, so that each piece is short enough to be harmless wherever it has such ends. What
// looks like one may stand in a comment or a text: then what is before it does not parse. Pieces that parse, each
// on its own, have together just the blocks and arguments of the whole.
func Pieces(src []byte) [][]byte {
	var out [][]byte
	for len(src) > 0 {
		end := blockEnd(src, harmless/8)
		out = append(out, src[:end])
		src = src[end:]
	}
	return out
}

// piece returns the tokens of the beginning of a configuration, as far as a place where nothing
// is open, and what comes after it: its tokens are the same with and without that beginning.
func piece(src []byte, filename string, at hcl.Pos) (hclsyntax.Tokens, []byte) {
	for size := pieceSize; ; size *= 2 {
		end := blockEnd(src, size)
		tokens, _ := hclsyntax.LexConfig(src[:end], filename, at) // problems are for the parser
		if end == len(src) || closed(tokens) {
			return tokens, src[end:]
		}
	}
}

// blockEnd returns where the first line after size bytes ends that looks like the end of a
// block of the outermost level, or where the source ends.
func blockEnd(src []byte, size int) int {
	const lastLine = "\n}\n"
	if size < len(src) {
		if i := bytes.Index(src[size:], []byte(lastLine)); i >= 0 {
			return size + i + len(lastLine)
		}
	}
	return len(src)
}

// closed tells whether nothing is open at the end of tokens: no block, no template and
// no comment, which the lexer takes for a slash and a star if it does not see its end.
func closed(tokens hclsyntax.Tokens) bool {
	depth := 0
	for i, token := range tokens {
		switch kindOf(token.Type) {
		case opening:
			depth++
		case closing:
			depth--
		default:
			if token.Type == hclsyntax.TokenStar && i > 0 && tokens[i-1].Type == hclsyntax.TokenSlash {
				return false
			}
		}
		if depth < 0 {
			return false
		}
	}
	return depth == 0
}

// Expression is [HCL] for a single expression.
func Expression(src []byte, filename string) hcl.Diagnostics {
	if !suspicious(src) {
		return nil
	}
	tokens, _ := hclsyntax.LexExpression(src, filename, hcl.InitialPos)
	return nesting(tokens)
}

// Template is [HCL] for a template without quotes around it.
func Template(src []byte, filename string) hcl.Diagnostics {
	if !suspicious(src) {
		return nil
	}
	tokens, _ := hclsyntax.LexTemplate(src, filename, hcl.InitialPos)
	return nesting(tokens)
}

// suspicious tells whether a source can be harmful at all: by its size, or by what
// looks like a number with a long exponent.
func suspicious(src []byte) bool {
	if len(src) > harmless {
		return true
	}
	digits := 0 // of what may be an exponent
	for i, c := range src {
		switch {
		case c >= '0' && c <= '9':
			if digits++; digits > maxExponent && exponent(src[:i-digits+1]) {
				return true
			}
		default:
			digits = 0
		}
	}
	return false
}

// exponent tells whether the digits after a text are an exponent.
func exponent(before []byte) bool {
	before = bytes.TrimRight(before, "+-")
	return len(before) > 1 && (before[len(before)-1]|0x20) == 'e' && before[len(before)-2] >= '0' && before[len(before)-2] <= '9'
}

// level is what is open at a place in the source.
type level struct {
	// chain counts what the expression at this level has chained so far.
	chain int
	// ended tells that a line ended after a whole operand, so that the next token
	// either goes on with the expression, inside parentheses, or begins another.
	ended, operand bool
}

type scanner struct {
	levels []level
	total  int // of all chains
}

func nesting(tokens hclsyntax.Tokens) hcl.Diagnostics {
	s := scanner{levels: make([]level, 1, 16)}
	for _, token := range tokens {
		if why := s.next(token); why != "" {
			return hcl.Diagnostics{{
				Severity: hcl.DiagError, Summary: "Nesting too deep", Subject: token.Range.Ptr(),
				Detail: why + " No configuration that people write needs that; split the expression into local values.",
			}}
		}
	}
	return nil
}

// next takes in a token and says what is wrong with it, if anything.
func (s *scanner) next(token hclsyntax.Token) string {
	switch kindOf(token.Type) {
	case opening:
		s.link(1)
		s.levels = append(s.levels, level{})
	case closing:
		if len(s.levels) > 1 {
			s.total -= s.levels[len(s.levels)-1].chain
			s.levels = s.levels[:len(s.levels)-1]
		}
		s.top().operand, s.top().ended = true, false
	case operator:
		s.link(1)
		s.top().operand, s.top().ended = false, false
	case separator:
		s.reset()
	case lineEnd:
		s.top().ended = s.top().operand
	default:
		if s.top().ended {
			s.reset()
		}
		s.top().operand = true
	}
	switch {
	case len(s.levels) > maxDepth:
		return fmt.Sprintf("Brackets, blocks or templates stand more than %d deep inside each other.", maxDepth)
	case s.total > maxChain:
		return fmt.Sprintf("More than %d operations are chained in one expression.", maxChain)
	case token.Type == hclsyntax.TokenNumberLit && tooLarge(token.Bytes):
		return "A number has an exponent of more digits than can be written out."
	}
	return ""
}

func (s *scanner) top() *level { return &s.levels[len(s.levels)-1] }

// link adds to the chain of the expression at the present level.
func (s *scanner) link(n int) {
	if top := s.top(); top.ended && !top.operand {
		s.reset()
	}
	s.top().chain += n
	s.total += n
}

// reset begins another expression at the present level.
func (s *scanner) reset() {
	s.total -= s.top().chain
	*s.top() = level{}
}

func tooLarge(number []byte) bool {
	at := bytes.IndexAny(number, "eE")
	return at >= 0 && len(bytes.TrimLeft(number[at+1:], "+-0")) > maxExponent
}

type tokenKind uint8

const (
	other tokenKind = iota
	opening
	closing
	operator
	separator
	lineEnd
)

func kindOf(t hclsyntax.TokenType) tokenKind {
	switch t {
	case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc,
		hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
		return opening
	case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc,
		hclsyntax.TokenTemplateSeqEnd:
		return closing
	case hclsyntax.TokenStar, hclsyntax.TokenSlash, hclsyntax.TokenPlus, hclsyntax.TokenMinus, hclsyntax.TokenPercent,
		hclsyntax.TokenEqualOp, hclsyntax.TokenNotEqual, hclsyntax.TokenLessThan, hclsyntax.TokenLessThanEq,
		hclsyntax.TokenGreaterThan, hclsyntax.TokenGreaterThanEq, hclsyntax.TokenAnd, hclsyntax.TokenOr, hclsyntax.TokenBang,
		hclsyntax.TokenQuestion, hclsyntax.TokenColon:
		return operator
	case hclsyntax.TokenComma:
		return separator
	case hclsyntax.TokenNewline:
		return lineEnd
	default:
		return other
	}
}

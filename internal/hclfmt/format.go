package hclfmt

import (
	"bytes"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
)

// Format returns source in canonical form.
func Format(src []byte, filename string) []byte {
	file, diags := hclwrite.ParseConfig(src, filename, hcl.InitialPos)
	if diags.HasErrors() {
		return src
	}
	formatBody(file.Body(), nil)
	return file.Bytes()
}

// formatBody rewrites a body that lies in blocks of these types.
func formatBody(body *hclwrite.Body, inside []string) {
	for name, attribute := range body.Attributes() {
		tokens := attribute.Expr().BuildTokens(nil)
		rewritten := unwrap(tokens)
		if len(inside) == 1 && inside[0] == "variable" && name == "type" {
			rewritten = typeExpression(tokens)
		}
		if !slices.Equal(rewritten, tokens) {
			body.SetAttributeRaw(name, rewritten)
		}
	}
	for _, block := range body.Blocks() {
		block.SetLabels(block.Labels()) // in quotes, whatever they were in
		formatBody(block.Body(), append(slices.Clone(inside), block.Type()))
	}
}

// unwrap takes an interpolation away that is all there is in a text.
func unwrap(tokens hclwrite.Tokens) hclwrite.Tokens {
	if !wrapped(tokens) {
		return tokens
	}
	inner := trimNewlines(tokens[2 : len(tokens)-2])
	if len(inner) == 0 {
		return tokens
	}
	manyLines := slices.ContainsFunc(inner, func(t *hclwrite.Token) bool { return t.Type == hclsyntax.TokenNewline })
	parenthesised := inner[0].Type == hclsyntax.TokenOParen && inner[len(inner)-1].Type == hclsyntax.TokenCParen
	if manyLines && !parenthesised {
		return slices.Concat(hclwrite.Tokens{token(hclsyntax.TokenOParen, "(")}, inner, hclwrite.Tokens{token(hclsyntax.TokenCParen, ")")})
	}
	return inner
}

// wrapped tells whether tokens are a text of a single interpolation for certain.
func wrapped(tokens hclwrite.Tokens) bool {
	n := len(tokens)
	if n < 5 || tokens[0].Type != hclsyntax.TokenOQuote || tokens[1].Type != hclsyntax.TokenTemplateInterp ||
		tokens[n-2].Type != hclsyntax.TokenTemplateSeqEnd || tokens[n-1].Type != hclsyntax.TokenCQuote {
		return false
	}
	quotes := 0
	for _, t := range tokens[2 : n-2] {
		switch t.Type {
		case hclsyntax.TokenOQuote:
			quotes++
		case hclsyntax.TokenCQuote:
			quotes--
		case hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateSeqEnd, hclsyntax.TokenQuotedLit:
			if quotes == 0 {
				return false // there is more than one part
			}
		}
	}
	return true
}

func trimNewlines(tokens hclwrite.Tokens) hclwrite.Tokens {
	for len(tokens) > 0 && tokens[0].Type == hclsyntax.TokenNewline {
		tokens = tokens[1:]
	}
	for len(tokens) > 0 && tokens[len(tokens)-1].Type == hclsyntax.TokenNewline {
		tokens = tokens[:len(tokens)-1]
	}
	return tokens
}

// typeExpression writes a variable's type as it is written today: without quotes, and
// collections with the type of their elements.
func typeExpression(tokens hclwrite.Tokens) hclwrite.Tokens {
	switch {
	case len(tokens) == 1 && tokens[0].Type == hclsyntax.TokenIdent:
		if name := string(tokens[0].Bytes); slices.Contains([]string{"list", "map", "set"}, name) {
			return collection(name, "any")
		}
	case len(tokens) == 3 && tokens[0].Type == hclsyntax.TokenOQuote && tokens[1].Type == hclsyntax.TokenQuotedLit:
		switch name := string(bytes.TrimSpace(tokens[1].Bytes)); name {
		case "string":
			return hclwrite.Tokens{token(hclsyntax.TokenIdent, name)}
		case "list", "map":
			return collection(name, "string") // what they held when types were quoted
		}
	}
	return tokens
}

func collection(name, element string) hclwrite.Tokens {
	return hclwrite.Tokens{
		token(hclsyntax.TokenIdent, name), token(hclsyntax.TokenOParen, "("), token(hclsyntax.TokenIdent, element), token(hclsyntax.TokenCParen, ")"),
	}
}

func token(kind hclsyntax.TokenType, text string) *hclwrite.Token {
	return &hclwrite.Token{Type: kind, Bytes: []byte(text)}
}

package bounds

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

func attribute(expr string) []byte { return []byte("a = " + expr + "\n") }

func rep(text string, n int) string { return strings.Repeat(text, n) }

// TestNestingBombs: each of these exhausts the stack of the parser or the evaluator.
func TestNestingBombs(t *testing.T) {
	t.Parallel()
	const n = 12_000
	for name, src := range map[string]string{
		"parentheses":        rep("(", n) + "1" + rep(")", n),
		"lists":              rep("[", n) + rep("]", n),
		"objects":            rep("{ a = ", n) + "1" + rep("}", n),
		"minus":              rep("-", n) + "1",
		"not":                rep("!", n) + "true",
		"sum":                rep("1+", n) + "1",
		"conditionals":       rep("true ? 1 : ", n) + "1",
		"sum over lines":     "(" + rep("1+\n", n) + "1)",
		"sum, operators led": "(1" + rep("\n+1", n) + ")",
		"sum of calls":       rep("f(1, 2)+", n) + "1",
		"indexes":            "a" + rep("[b]", n),
		"templates":          rep(`"${`, n) + "1" + rep(`}"`, n),
		"template ifs":       `"` + rep("%{ if true }", n) + rep("%{ endif }", n) + `"`,
		"levels of chains":   rep(rep("1+", 100)+"(", 400) + "1" + rep(")"+rep("+1", 100), 400),
		"large number":       "1e999999999",
		"large fraction":     "2.5E-0123456",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src += strings.Repeat(" ", harmless) // short texts are not looked at
			if !HCL(attribute(src), "x.tf").HasErrors() {
				t.Error("let through")
			}
			if !Expression([]byte(src), "x").HasErrors() {
				t.Error("let through as an expression")
			}
			if strings.Contains(src, `"`) {
				return
			}
			if !Template([]byte("${"+src+"}"), "x").HasErrors() {
				t.Error("let through as a template")
			}
			if !strings.HasPrefix(name, "large") && !HCLJSON([]byte(fmt.Sprintf("{\"a\": \"${%s}\"}", strings.ReplaceAll(src, "\n", `\n`))), "x.tf.json").HasErrors() {
				t.Error("let through inside JSON")
			}
		})
	}
}

func TestBlocksInsideEachOther(t *testing.T) {
	t.Parallel()
	if !HCL([]byte(rep("a {\n", 20_000)+rep("}\n", 20_000)), "x.tf").HasErrors() {
		t.Error("let through")
	}
}

// TestLargeButFlat: length alone is no reason to refuse anything.
func TestLargeButFlat(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range 1_000 {
		fmt.Fprintf(&many, "resource \"a\" \"b%d\" {\n  x = 1 + 2 * var.a[%d] > -3 ? \"${a}-%%{ if b }x%%{ endif }\" : null\n  y {\n    z = !true\n  }\n}\n", i, i)
	}
	for name, src := range map[string]string{
		"blocks":        many.String(),
		"list":          "a = [" + rep("1 + -2,\n", 20_000) + "]\n",
		"object":        "a = {\n" + rep("  k = 1 + -2\n", 20_000) + "}\n",
		"list of lists": "a = [" + rep("[1 + 2, { a = !b }],", 5_000) + "]\n",
		"heredoc":       "a = <<EOT\n" + rep("line ${x + 1} ((([[[ {{{ ---\n", 4000) + "EOT\n",
		"arguments":     "a = f(" + rep("1 + 2, ", 20_000) + "3)\n",
		"deep enough":   "a = " + rep("[", 100) + rep("]", 100) + "\n",
		"comment":       "# " + rep("(", 100_000) + "\n",
		"digest":        "a = \"4b1e123456789\" # 1e99999\n",
		"string":        "a = \"" + rep("(", 100_000) + "\"\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diags := HCL([]byte(src), "x.tf"); diags.HasErrors() {
				t.Errorf("refused: %s at %s", diags, diags[0].Subject)
			}
		})
	}
}

func TestBrokenSourceIsForTheParser(t *testing.T) {
	t.Parallel()
	for _, src := range []string{"", "}", ")))]", "a = \"", "a = <<EOT", "\x00\xff", "a = ${", "}}}}{{{{"} {
		for name, check := range map[string]func([]byte, string) hcl.Diagnostics{"hcl": HCL, "expression": Expression, "template": Template, "json": HCLJSON} {
			if diags := check([]byte(src), "x"); diags.HasErrors() {
				t.Errorf("%s %q: %s", name, src, diags)
			}
		}
	}
}

func TestData(t *testing.T) {
	t.Parallel()
	bomb := "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
	for i := 1; i < 12; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(rep(fmt.Sprintf("*a%d,", i-1), 10), ","))
	}
	for name, test := range map[string]struct {
		check func([]byte) error
		src   string
		ok    bool
	}{
		"JSON":                 {JSON, `{"a": [1, {"b": "]]]\"[[["}]}`, true},
		"wide JSON":            {JSON, "[" + rep("[],", 100_000) + "[]]", true},
		"deep JSON":            {JSON, rep("[", 2000) + rep("]", 2000), false},
		"deep objects":         {JSON, rep(`{"a":`, 2000) + "1" + rep("}", 2000), false},
		"not JSON":             {JSON, "what", true},
		"YAML with aliases":    {YAML, "a: &a [1]\nb: [*a, *a]\n", true},
		"wide YAML":            {YAML, rep("- a: 1\n", 10_000), true},
		"YAML bomb":            {YAML, bomb, false},
		"YAML that has itself": {YAML, "a: &a [*a]\n", false},
		"deep YAML":            {YAML, rep("[", 2000) + rep("]", 2000), false},
		"not YAML":             {YAML, "a: [", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := test.check([]byte(test.src)); (err == nil) != test.ok {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, pipe := filepath.Join(dir, "file"), filepath.Join(dir, "pipe")
	if err := errors.Join(os.WriteFile(file, []byte("1234"), 0o600), syscall.Mkfifo(pipe, 0o600), os.Symlink("/dev/zero", filepath.Join(dir, "zero"))); err != nil {
		t.Fatal(err)
	}
	if data, err := ReadFile(file, 4); err != nil || string(data) != "1234" {
		t.Errorf("got %q, %v", data, err)
	}
	if _, err := ReadFile(file, 3); err == nil {
		t.Error("a file beyond the limit was read")
	}
	for _, path := range []string{pipe, dir, filepath.Join(dir, "zero")} {
		if _, err := ReadFile(path, 10); !errors.Is(err, ErrNotFile) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := ReadFile(filepath.Join(dir, "absent"), 10); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
}

// TestPieces: what opens before a place where a long source might be cut counts behind it as well.
func TestPieces(t *testing.T) {
	t.Parallel()
	const n = 12_000
	filler := rep("a {\n  b = 1\n}\n", pieceSize/14)
	bomb := rep("[", n) + rep("]", n) + "\n"
	for name, src := range map[string]string{
		"after blocks":        filler + "a = " + bomb,
		"inside a block":      "x {\n" + filler + filler + "a = " + bomb + "}\n",
		"after a comment":     "/* " + filler + "# */ a = " + bomb,
		"after a heredoc":     "a = <<EOT\n" + filler + "${1}\nEOT\nb = " + bomb,
		"behind no heredoc":   "# <<EOT\n" + filler + "a = " + bomb,
		"inside a template":   "a = \"${f({\n" + filler + filler + "a = " + bomb + "})}\"\n",
		"after stray closers": rep("}", 10) + "\n" + filler + "a = " + bomb,
		"over many pieces":    rep("x {\n"+filler[:140], maxDepth+1) + rep("}\n", maxDepth+1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			diags := HCL([]byte(src), "x.tf")
			if !diags.HasErrors() {
				t.Fatal("let through")
			}
			at := diags[0].Subject.Start
			if want := 1 + strings.Count(src[:at.Byte], "\n"); at.Line != want {
				t.Errorf("told of line %d, which is line %d", at.Line, want)
			}
		})
	}
	for name, src := range map[string]string{
		"comment": "/*\n" + filler + rep("(", n) + "\n*/\n",
		"heredoc": "a = <<EOT\n" + filler + rep("(", n) + "\nEOT\n",
		"windows": strings.ReplaceAll(filler+filler, "\n", "\r\n"),
	} {
		if diags := HCL([]byte(src), "x.tf"); diags.HasErrors() {
			t.Errorf("%s: refused: %s", name, diags)
		}
	}
}

// TestPiecesAreOfOneText: a source in pieces has the tokens that it has as a whole.
func TestPiecesAreOfOneText(t *testing.T) {
	t.Parallel()
	parts := []string{"a {\n  b = \"${c}\"\n}\n", "a = <<EOT\nx\n}\n\nEOT\n", "/*\n}\n*/\n", "// }\n", "a = \"}\"\n", "a = 1 /2 * 3\n", "a {\n  b {\n  }\n}\n", "a = {\n}\n", "}\n", "a = \"\n}\n"}
	random := rand.New(rand.NewPCG(1, 2))
	for range 6 {
		var b strings.Builder
		for b.Len() < 3*pieceSize {
			part := random.IntN(len(parts) * 400) // what never closes is rare
			if part >= len(parts) {
				part %= 8
			}
			b.WriteString(parts[part])
		}
		whole, _ := hclsyntax.LexConfig([]byte(b.String()), "x", hcl.InitialPos)
		var got hclsyntax.Tokens
		for rest, at := []byte(b.String()), hcl.InitialPos; len(rest) > 0; {
			var tokens hclsyntax.Tokens
			tokens, rest = piece(rest, "x", at)
			at = tokens[len(tokens)-1].Range.End
			if len(rest) > 0 {
				tokens = tokens[:len(tokens)-1] // the end of the piece
			}
			got = append(got, tokens...)
		}
		if len(got) != len(whole) {
			t.Fatalf("%d tokens in pieces, %d as a whole", len(got), len(whole))
		}
		for i := range got {
			if got[i].Type != whole[i].Type || got[i].Range != whole[i].Range {
				t.Fatalf("token %d is %s at %s in pieces, and %s at %s as a whole", i, got[i].Type, got[i].Range, whole[i].Type, whole[i].Range)
			}
		}
	}
}

package configs

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/towline/terraform-provider-towline/internal/bounds"
)

// TestPiecesAreTheWhole: a long file parsed in pieces is what it is as a whole, and
// what cannot be cut is not taken for something else.
func TestPiecesAreTheWhole(t *testing.T) {
	t.Parallel()
	plain := []string{
		"resource \"a\" \"b\" {\n  c = \"${d.e[0]}-x\"\n  f {\n    g = [1, 2]\n  }\n}\n", "locals {\n  a = {\n    b = \"c\"\n  }\n}\n",
		"# }\n", "\n", "/* a */\n", "a {}\n", "b \"c\" {\n  d = <<-EOT\n    x ${y}\n    EOT\n}\n",
	}
	odd := []string{ // what looks like an end of a block, and what is no configuration
		"h {\n  i = <<EOT\n}\nresource \"x\" {\nEOT\n}\n", "/*\n}\n*/\n", "j {\n  k = \"${l({\n})}\"\n}\n", "m = 1\n", "}\n", "n {\n", "o = \"\n}\n", "p = <<EOT\n}\n",
	}
	random := rand.New(rand.NewPCG(3, 4))
	cut, refused := 0, 0
	for round := range 24 {
		var b strings.Builder
		for b.Len() < 60<<10 {
			if round > 0 && random.IntN(1000*round) == 0 {
				b.WriteString(odd[random.IntN(len(odd))])
			}
			b.WriteString(plain[random.IntN(len(plain))])
		}
		src := []byte(b.String())
		whole, diags := hclsyntax.ParseConfig(src, "x.tf", hcl.InitialPos)
		pieces := parsePieces(bounds.Pieces(src), "x.tf")
		if pieces == nil {
			refused++
			continue
		}
		cut++
		if diags.HasErrors() {
			t.Fatalf("round %d: its pieces parse, and the whole does not: %s", round, diags)
		}
		if err := alike(pieces, whole.Body); err != nil {
			t.Fatalf("round %d: %s", round, err)
		}
	}
	if cut < 5 || refused < 5 {
		t.Errorf("%d texts could be cut, and %d could not: the test shows little", cut, refused)
	}
}

func alike(a, b hcl.Body) error {
	x, okX := a.(*hclsyntax.Body)
	y, okY := b.(*hclsyntax.Body)
	switch {
	case !okX || !okY:
		return fmt.Errorf("bodies are %T and %T", a, b)
	case x.SrcRange != y.SrcRange || x.EndRange != y.EndRange:
		return fmt.Errorf("pieces are at %v and end at %v, the whole at %v and %v", x.SrcRange, x.EndRange, y.SrcRange, y.EndRange)
	case len(x.Blocks) != len(y.Blocks):
		return fmt.Errorf("%d blocks in pieces, %d in the whole", len(x.Blocks), len(y.Blocks))
	case !reflect.DeepEqual(x.Attributes, y.Attributes):
		return fmt.Errorf("the arguments are not the same")
	}
	for i := range x.Blocks {
		if !reflect.DeepEqual(x.Blocks[i], y.Blocks[i]) {
			return fmt.Errorf("block %d is at %s in pieces, and is not the one at %s", i, x.Blocks[i].Range(), y.Blocks[i].Range())
		}
	}
	return nil
}

// TestProblemInALongFile: what is wrong is said at its line, once.
func TestProblemInALongFile(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("a {\n}\n", 8_000)
	for name, test := range map[string]struct {
		src  string
		line int
	}{
		"syntax":        {filler + "b = = 1\n" + filler, 16_001},
		"set twice":     {"b = 1\n" + filler + "b = 2\n" + filler, 16_002},
		"never closed":  {filler + "b {\n" + filler, 16_001},
		"nested deeply": {filler + "b = " + strings.Repeat("[", 40_000) + strings.Repeat("]", 40_000) + "\n" + filler, 16_001},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, diags := parseHCL([]byte(test.src), "x.tf")
			if len(diags) != 1 || diags[0].Subject.Start.Line != test.line {
				t.Errorf("got %v, want one problem in line %d", diags, test.line)
			}
		})
	}
}

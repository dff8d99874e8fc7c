package tfdiags_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

func warning(summary string, line int) tfdiags.Diagnostics {
	at := hcl.Range{Filename: "main.tf", Start: hcl.Pos{Line: line, Column: 1, Byte: line}, End: hcl.Pos{Line: line, Column: 2, Byte: line + 1}}
	return tfdiags.At(at, summary, "Mend it.").Warnings()
}

func TestSimilarWarningsAreJoined(t *testing.T) {
	t.Parallel()
	both := append(warning("Old", 3), warning("Old", 2)...)
	nowhere := tfdiags.New(tfdiags.Warning, "Old", "Mend it.")
	wrong := tfdiags.New(tfdiags.Error, "Wrong", "Mend it.")
	tests := map[string]struct {
		diags         tfdiags.Diagnostics
		want, compact string
	}{
		"two": {
			both, "Old 2 (and one more similar warning elsewhere)",
			"Warnings: - Old on main.tf line 2 (and 1 more) To see the warnings in full, leave out -compact-warnings.",
		},
		"three, and another": {
			append(append(warning("Odd", 1), both...), warning("Old", 9)...), "Odd 1 Old 2 (and 2 more similar warnings elsewhere)",
			"Warnings: - Odd on main.tf line 1 - Old on main.tf line 2 (and 2 more) To see the warnings in full, leave out -compact-warnings.",
		},
		"without a place": {
			append(nowhere, nowhere...), "Old Old",
			"Warnings: - Old - Old To see the warnings in full, leave out -compact-warnings.",
		},
		"errors are told in full": {append(append(wrong, wrong...), both...), "Old 2 (and one more similar warning elsewhere) Wrong Wrong", "Old 2 (and one more similar warning elsewhere) Wrong Wrong"},
		"nothing":                 {nil, "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var full, compact strings.Builder
			if err := (tfdiags.Format{}).Write(&full, test.diags); err != nil {
				t.Fatal(err)
			}
			if err := (tfdiags.Format{}).WriteCompact(&compact, test.diags); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{test.want, test.compact}, []string{essence(full.String()), essence(compact.String())}); diff != "" {
				t.Errorf("text differs (-want +got):\n%s", diff)
			}
		})
	}
}

// essence leaves out what all problems of the test have.
func essence(text string) string {
	for _, same := range []string{"Warning: ", "Error: ", "Mend it.", "(source code not available)"} {
		text = strings.ReplaceAll(text, same, "")
	}
	if !strings.HasPrefix(text, "\nWarnings:") {
		text = strings.NewReplacer("on main.tf line ", "", ":\n", "\n").Replace(text)
	}
	return strings.Join(strings.Fields(text), " ")
}

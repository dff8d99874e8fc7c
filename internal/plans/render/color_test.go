package render_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/plans/oracletest"
	"github.com/towline/terraform-provider-towline/internal/plans/render"
)

var ansi = regexp.MustCompile("\x1b\\[[0-9;]*m")

// Colours must add nothing but colours, and must be there.
func TestColorsOnlyAddColors(t *testing.T) {
	t.Parallel()
	b := oracletest.New(t)
	b.Write(map[string]string{"main.tf": replacing(`["1"]`, "").config})
	b.Terraform("apply", "-auto-approve")
	b.Write(map[string]string{"main.tf": replacing(`["2"]`, "").config + "output \"o\" {\n  value = \"x\"\n}\n"})
	planned := b.Plan(engine.PlanOptions{})
	var plain, coloured strings.Builder
	for color, w := range map[bool]*strings.Builder{false: &plain, true: &coloured} {
		if err := render.Plan(w, planned.Plan, render.SchemasOf(planned.Schemas), render.Options{Color: color}); err != nil {
			t.Fatal(err)
		}
	}
	if got := ansi.ReplaceAllString(coloured.String(), ""); got != plain.String() {
		t.Errorf("without its colours, the coloured text is\n%s\nwant\n%s", got, plain.String())
	}
	for _, want := range []string{"\x1b[31mreplaced\x1b[0m", "\x1b[32m+\x1b[0m", "\x1b[90m# (1 unchanged attribute hidden)\x1b[0m"} {
		if !strings.Contains(coloured.String(), want) {
			t.Errorf("there is no %q", want)
		}
	}
}

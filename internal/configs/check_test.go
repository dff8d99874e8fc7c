package configs_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCheckBlocks(t *testing.T) {
	t.Parallel()
	const assert = "  assert {\n    condition     = path.module == \"x\"\n    error_message = \"x\"\n  }\n"
	check := func(body string) string { return "check \"c\" {\n" + body + "}\n" }
	tests := map[string]struct {
		config string
		want   []string
	}{
		"one":              {config: check(assert)},
		"several":          {config: check(assert + assert)},
		"nothing to check": {config: check(""), want: []string{"Zero assert blocks"}},
		"always the same":  {config: check("  assert {\n    condition = true\n    error_message = \"x\"\n  }\n"), want: []string{"Invalid assert expression", "Zero assert blocks"}},
		"no message":       {config: check("  assert {\n    condition = path.module == \"x\"\n  }\n"), want: []string{"Missing required argument", "Zero assert blocks"}},
		"twice":            {config: check(assert) + check(assert), want: []string{`Duplicate check "c" configuration`}},
		"data inside":      {config: check("  data \"a_b\" \"c\" {}\n" + assert)},
		"data twice":       {config: check("  data \"a_b\" \"c\" {}\n  data \"a_b\" \"d\" {}\n" + assert), want: []string{"Multiple data resource blocks"}},
		"data with count":  {config: check("  data \"a_b\" \"c\" {\n    count = 1\n  }\n" + assert), want: []string{`Invalid "count" attribute`}},
		"data's lifecycle": {config: check("  data \"a_b\" \"c\" {\n    lifecycle {}\n  }\n" + assert), want: []string{"Invalid lifecycle block"}},
		"data of one name": {config: "data \"a_b\" \"c\" {}\n" + check("  data \"a_b\" \"c\" {}\n"+assert), want: []string{`Duplicate data "a_b" configuration`}},
		"odd name":         {config: "check \"0\" {\n" + assert + "}\n", want: []string{"Invalid check block name"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config, diags := load(t, map[string]string{"main.tf": test.config})
			if diff := cmp.Diff(test.want, summaries(diags)); diff != "" {
				t.Errorf("problems differ:\n%s", diff)
			}
			if test.want == nil && len(config.Module.Checks["c"].Asserts) == 0 {
				t.Error("the assertions are lost")
			}
		})
	}
}

func TestCheckBlocksAreNotOverridden(t *testing.T) {
	t.Parallel()
	_, diags := load(t, map[string]string{"override.tf": "check \"c\" {}\n"})
	if diff := cmp.Diff([]string{"Can't override check blocks"}, summaries(diags)); diff != "" {
		t.Errorf("problems differ:\n%s", diff)
	}
}

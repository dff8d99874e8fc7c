package configs_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestQueryFiles(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		query string
		want  []string
	}{
		"list":               {query: "list \"a_b\" \"c\" {\n  provider = a\n  limit = 5\n  include_resource = true\n  config {\n    d = var.v\n  }\n}"},
		"no config":          {query: "list \"a_b\" \"c\" {\n  provider = a.west\n}"},
		"for each":           {query: "list \"a_b\" \"c\" {\n  provider = a\n  for_each = local.l\n}\nlocals {\n  l = {}\n}\nvariable \"more\" {}\nprovider \"a\" {\n  alias = \"west\"\n}"},
		"no provider":        {query: "list \"a_b\" \"c\" {}", want: []string{"Missing required argument"}},
		"two configs":        {query: "list \"a_b\" \"c\" {\n  provider = a\n  config {}\n  config {}\n}", want: []string{"Duplicate config block"}},
		"twice":              {query: "list \"a_b\" \"c\" {\n  provider = a\n}\nlist \"a_b\" \"c\" {\n  provider = a\n}", want: []string{`Duplicate list "a_b" configuration`}},
		"count and for_each": {query: "list \"a_b\" \"c\" {\n  provider = a\n  count = 1\n  for_each = {}\n}", want: []string{`Invalid combination of "count" and "for_each"`}},
		"depends_on":         {query: "list \"a_b\" \"c\" {\n  provider = a\n  depends_on = [a_b.x]\n}", want: []string{"Unsupported argument"}},
		"name":               {query: "list \"a_b\" \"1\" {\n  provider = a\n}", want: []string{"Invalid list name"}},
		"resource":           {query: "resource \"a_b\" \"c\" {}", want: []string{"Unsupported block type"}},
		"variable again":     {query: "variable \"v\" {}", want: []string{"Duplicate variable declaration"}},
		"no configuration":   {query: "list {", want: []string{"Unclosed configuration block", "Missing type for list"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config, diags := load(t, map[string]string{"main.tf": "variable \"v\" {}\n", "all.tfquery.hcl": test.query, ".hidden.tfquery.hcl": "}"})
			if diff := cmp.Diff(test.want, summaries(diags)); diff != "" {
				t.Errorf("problems differ:\n%s", diff)
			}
			if test.want != nil {
				return
			}
			list := config.Module.Lists["list.a_b.c"]
			if list == nil || list.Provider.LocalName != "a" || list.Config == nil {
				t.Errorf("got %+v", config.Module.Lists)
			}
			if _, needed := config.ProviderRequirements()[config.Module.LocalProvider("a")]; !needed {
				t.Error("the provider is not required")
			}
		})
	}
}

// TestQueryFilesOfModulesAreNotRead: Terraform reads those of the root module only.
func TestQueryFilesOfModulesAreNotRead(t *testing.T) {
	t.Parallel()
	config, diags := load(t, map[string]string{"main.tf": "module \"m\" {\n  source = \"./m\"\n}\n", "m/x.tfquery.hcl": "nonsense", "m/m.tf": ""})
	if len(diags) > 0 || len(config.Children["m"].Module.Lists) > 0 {
		t.Errorf("got %v", diags)
	}
}

func TestListBlocksStandInQueryFilesOnly(t *testing.T) {
	t.Parallel()
	_, diags := load(t, map[string]string{"main.tf": "list \"a_b\" \"c\" {\n  provider = a\n}\n"})
	if diff := cmp.Diff([]string{"Unsupported block type"}, summaries(diags)); diff != "" {
		t.Errorf("problems differ:\n%s", diff)
	}
}

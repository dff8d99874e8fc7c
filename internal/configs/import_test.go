package configs_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestImportBlocks(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		block string
		want  []string
	}{
		"resource":          {block: "to = a_b.c\nid = \"x\""},
		"instance":          {block: "to = module.m[0].module.n[\"k\"].a_b.c[1]\nid = var.x"},
		"for each":          {block: "for_each = local.all\nto = module.m[each.key].a_b.c[each.value.n]\nid = each.value.id"},
		"computed alone":    {block: "to = a_b.c[each.key]\nid = \"x\"", want: []string{"Invalid expression", "Invalid import address"}},
		"function in a key": {block: "for_each = local.all\nto = a_b.c[upper(each.key)]\nid = \"x\"", want: []string{"Function calls not allowed"}},
		"module":            {block: "to = module.m\nid = \"x\"", want: []string{"Invalid address", "Invalid import address"}},
		"data source":       {block: "to = data.a.b\nid = \"x\"", want: []string{"Invalid import address"}},
		"attribute":         {block: "to = a_b.c.d\nid = \"x\"", want: []string{"Invalid address", "Invalid import address"}},
		"two keys":          {block: "to = a_b.c[0][1]\nid = \"x\"", want: []string{"Invalid address", "Invalid import address"}},
		"text":              {block: "to = \"a_b.c\"\nid = \"x\"", want: []string{"Invalid expression", "Invalid import address"}},
		"no id":             {block: "to = a_b.c", want: []string{"Missing required argument"}},
		"no address":        {block: "id = \"x\"", want: []string{"Missing required argument"}},
		"provider":          {block: "to = a_b.c\nid = \"x\"\nprovider = a.west"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config, diags := load(t, map[string]string{"main.tf": "import {\n" + test.block + "\n}\n"})
			if diff := cmp.Diff(test.want, summaries(diags)); diff != "" {
				t.Errorf("problems differ:\n%s", diff)
			}
			if test.want == nil && config.Module.Imports[0].To.Resource.String() != "a_b.c" {
				t.Errorf("got %+v", config.Module.Imports[0].To)
			}
		})
	}
}

func TestImportBlockInAModule(t *testing.T) {
	t.Parallel()
	_, diags := load(t, map[string]string{
		"main.tf": "module \"m\" {\n  source = \"./m\"\n}\n",
		"m/m.tf":  "resource \"a_b\" \"c\" {}\nimport {\n  to = a_b.c\n  id = \"x\"\n}\n",
	})
	if diff := cmp.Diff([]string{"Invalid import configuration"}, summaries(diags)); diff != "" {
		t.Errorf("problems differ:\n%s", diff)
	}
}

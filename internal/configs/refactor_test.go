package configs_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// load writes files into a directory and loads it as a root module.
func load(t *testing.T, files map[string]string) (*configs.Config, tfdiags.Diagnostics) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return configs.Load(dir)
}

func summaries(diags tfdiags.Diagnostics) []string {
	var out []string
	for _, d := range diags {
		out = append(out, d.Summary)
	}
	return out
}

func TestMovedBlocks(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ from, to, want string }{
		"resources":         {"a_b.c", "a_b.d", ""},
		"instances":         {`a_b.c["x"]`, "a_b.c[0]", ""},
		"module instances":  {"module.a[0]", `module.b["x"].module.c`, ""},
		"into a module":     {"a_b.c", "module.m.a_b.c", ""},
		"module, resource":  {"module.a", "a_b.c", `Invalid "moved" addresses`},
		"resource, module":  {"a_b.c", "module.a", `Invalid "moved" addresses`},
		"attribute":         {"a_b.c.d", "a_b.c", "Invalid address"},
		"one name":          {"a_b", "a_b.c", "Invalid address"},
		"variable":          {"var.x", "a_b.c", "Invalid address"},
		"fractional key":    {"a_b.c[1.5]", "a_b.c", "Invalid address"},
		"text":              {`"x"`, "a_b.c", "Invalid expression"},
		"computed key":      {"a_b.c[each.key]", "a_b.c", "Invalid expression"},
		"expression":        {"a_b.c + 1", "a_b.c", "Invalid expression"},
		"module without it": {"module", "module.a", "Invalid address"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config, diags := load(t, map[string]string{"main.tf": "moved {\n  from = " + test.from + "\n  to   = " + test.to + "\n}\n"})
			if test.want != "" {
				if got := summaries(diags); len(got) != 1 || got[0] != test.want {
					t.Errorf("got %q, want %q", got, test.want)
				}
				return
			}
			if diags.HasErrors() {
				t.Fatal(diags.Err())
			}
			moved := config.Module.Moved[0]
			if moved.From.String() != test.from || moved.To.String() != test.to {
				t.Errorf("got %s to %s", moved.From, moved.To)
			}
		})
	}
}

func TestMovedBlocksInJSON(t *testing.T) {
	t.Parallel()
	config, diags := load(t, map[string]string{"main.tf.json": `{"moved": [{"from": "a_b.c", "to": "module.m.a_b.c[\"x\"]"}], "removed": {"from": "a_b.d", "lifecycle": {"destroy": false}}}`})
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	if got := config.Module.Moved[0].To.String(); got != `module.m.a_b.c["x"]` {
		t.Errorf("moved to %s", got)
	}
	if removed := config.Module.Removed[0]; removed.From.String() != "a_b.d" || removed.Destroy {
		t.Errorf("got %+v", removed)
	}
}

func TestRemovedBlocks(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		block   string
		destroy bool
		want    []string
	}{
		"destroyed":         {block: "from = a_b.c", destroy: true},
		"empty lifecycle":   {block: "from = a_b.c\nlifecycle {}", destroy: true},
		"kept":              {block: "from = module.m.module.n\nlifecycle {\n  destroy = false\n}"},
		"instance":          {block: "from = a_b.c[0]", want: []string{"Resource instance keys not allowed"}},
		"module instance":   {block: `from = module.m["x"].a_b.c`, want: []string{"Module instance keys not allowed"}},
		"data source":       {block: "from = data.a_b.c", want: []string{"Data source address not allowed"}},
		"nothing named":     {block: "lifecycle {}", want: []string{"Missing required argument"}},
		"not a truth value": {block: "from = a_b.c\nlifecycle {\n  destroy = \"x\"\n}", want: []string{"Unsuitable value type"}},
		"other lifecycle":   {block: "from = a_b.c\nlifecycle {\n  prevent_destroy = true\n}", want: []string{"Unsupported argument"}},
		"provisioner":       {block: "from = a_b.c\nprovisioner \"local-exec\" {}", want: []string{"Invalid provisioner block"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config, diags := load(t, map[string]string{"main.tf": "removed {\n" + test.block + "\n}\n"})
			if diff := cmp.Diff(test.want, summaries(diags)); diff != "" {
				t.Errorf("problems differ:\n%s", diff)
			}
			if test.want == nil && config.Module.Removed[0].Destroy != test.destroy {
				t.Errorf("destroy is %v", !test.destroy)
			}
		})
	}
}

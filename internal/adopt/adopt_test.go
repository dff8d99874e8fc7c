package adopt_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/towline/terraform-provider-towline/internal/adopt"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// planOf is a plan in which one object drifted.
func planOf(address, real, want string) string {
	return `{"resource_drift":[{"address":"` + address + `","mode":"managed","change":{"actions":["update"]}}],
	"resource_changes":[{"address":"` + address + `","mode":"managed","change":{"actions":["update"],"before":` + real + `,"after":` + want + `,
	"after_unknown":{"computed":true},"before_sensitive":{"secret":true,"deep":{"list":[{"k":true}]}},"after_sensitive":{"hidden":true}}}]}`
}

func rewrite(t *testing.T, files map[string]string, plan string) (map[string][]byte, tfdiags.Diagnostics) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config, diags := configs.Load(dir)
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	drift, err := adopt.Read([]byte(plan))
	if err != nil {
		t.Fatal(err)
	}
	changed, diags := adopt.Rewrite(config, drift)
	out := map[string][]byte{}
	for name, content := range changed {
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.ToSlash(rel)] = content
	}
	return out, diags
}

func TestRewrite(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ source, real, want, result string }{
		"a literal keeps its comment and the others their places": {
			"resource \"t\" \"a\" {\n  name     = \"a\" # who\n  priority = 10 /* low */\n\n  # the end\n}\n",
			`{"name":"a","priority":20}`, `{"name":"a","priority":10}`,
			"resource \"t\" \"a\" {\n  name     = \"a\" # who\n  priority = 20 /* low */\n\n  # the end\n}\n",
		},
		"an element of a map": {
			"resource \"t\" \"a\" {\n  tags = {\n    team = \"x\" // ours\n    \"cost center\" = \"1\"\n  }\n}\n",
			`{"tags":{"team":"y","cost center":"2"}}`, `{"tags":{"team":"x","cost center":"1"}}`,
			"resource \"t\" \"a\" {\n  tags = {\n    team = \"y\" // ours\n    \"cost center\" = \"2\"\n  }\n}\n",
		},
		"an element more, over several lines and in one": {
			"resource \"t\" \"a\" {\n  tags = {\n    team = \"x\"\n  }\n  labels = { a = \"1\" }\n  none = {}\n}\n",
			`{"tags":{"team":"x","on call":"y"},"labels":{"a":"1","b":"2"},"none":{"c":"3"}}`, `{"tags":{"team":"x"},"labels":{"a":"1"},"none":{}}`,
			"resource \"t\" \"a\" {\n  tags = {\n    team = \"x\"\n    \"on call\" = \"y\"\n  }\n  labels = { a = \"1\", b = \"2\" }\n  none = { c = \"3\" }\n}\n",
		},
		"an argument that was not there": {
			"resource \"t\" \"a\" {\n  name = \"a\"\n}\nresource \"t\" \"b\" {}\n",
			`{"name":"a","size":3}`, `{"name":"a","size":null}`,
			"resource \"t\" \"a\" {\n  name = \"a\"\n  size = 3\n}\nresource \"t\" \"b\" {}\n",
		},
		"in a block without lines": {
			"resource \"t\" \"a\" {}\n", `{"size":3}`, `{"size":null}`, "resource \"t\" \"a\" {\n  size = 3\n}\n",
		},
		"a value that is gone": {
			"resource \"t\" \"a\" {\n  name = \"a\"\n  size = 3 # big\n}\n", `{"name":"a","size":null}`, `{"name":"a","size":3}`,
			"resource \"t\" \"a\" {\n  name = \"a\"\n}\n",
		},
		"inside a nested block": {
			"resource \"t\" \"a\" {\n  rule {\n    port = 1\n  }\n  rule {\n    port = 2\n  }\n}\n",
			`{"rule":[{"port":1},{"port":3}]}`, `{"rule":[{"port":1},{"port":2}]}`,
			"resource \"t\" \"a\" {\n  rule {\n    port = 1\n  }\n  rule {\n    port = 3\n  }\n}\n",
		},
		"a list of another length": {
			"resource \"t\" \"a\" {\n  cidrs = [\"10.0.0.0/8\"]\n}\n", `{"cidrs":["10.0.0.0/8","0.0.0.0/0"]}`, `{"cidrs":["10.0.0.0/8"]}`,
			"resource \"t\" \"a\" {\n  cidrs = [\"10.0.0.0/8\", \"0.0.0.0/0\"]\n}\n",
		},
		"text that looks like a template": {
			"resource \"t\" \"a\" {\n  text = \"x\"\n}\n", `{"text":"${a} \"b\""}`, `{"text":"x"}`,
			"resource \"t\" \"a\" {\n  text = \"$${a} \\\"b\\\"\"\n}\n",
		},
		"one line becomes several": {
			"resource \"t\" \"a\" { size = 1 /* c */ }\n", `{"size":2,"name":"b","x":3}`, `{"size":1,"name":null,"x":null}`,
			"resource \"t\" \"a\" {\n  size = 2 /* c */\n  name = \"b\"\n  x = 3\n}\n",
		},
		"gone from one line": {
			"resource \"t\" \"a\" {\n  rule { port = 1 }\n}\n", `{"rule":[{"port":null}]}`, `{"rule":[{"port":1}]}`, "resource \"t\" \"a\" {\n  rule {  }\n}\n",
		},
		"gone beside a comment of several lines": {
			"resource \"t\" \"a\" {\n  /* x */ size = 1 /* y\n z */\n  n = 2\n}\n", `{"size":null,"n":2}`, `{"size":1,"n":2}`,
			"resource \"t\" \"a\" {\n  /* x */  /* y\n z */\n  n = 2\n}\n",
		},
		"two more in what is empty": {
			"resource \"t\" \"a\" {\n  tags = {}\n  rule { }\n}\n", `{"tags":{"a":"1","b":"2"},"rule":[{"x":1,"y":2}]}`, `{"tags":{},"rule":[{"x":null,"y":null}]}`,
			"resource \"t\" \"a\" {\n  tags = { a = \"1\", b = \"2\" }\n  rule {\n    x = 1\n    y = 2\n  }\n}\n",
		},
		"behind a list that ends on the line": {
			"resource \"t\" \"a\" {\n  tags = { a = [\n    1\n  ] }\n}\n", `{"tags":{"a":[1],"b":"2"}}`, `{"tags":{"a":[1]}}`,
			"resource \"t\" \"a\" {\n  tags = { a = [\n    1\n  ], b = \"2\" }\n}\n",
		},
		"not in a comment": {
			"resource \"t\" \"a\" {\n  tags = {\n    a = 1\n    /* c\n    */ }\n  /* d\n */ }\n", `{"tags":{"a":1,"b":2},"n":3}`, `{"tags":{"a":1},"n":null}`,
			"resource \"t\" \"a\" {\n  tags = {\n    a = 1, b = 2\n    /* c\n    */ }\n  /* d\n */ \n  n = 3\n}\n",
		},
		"lines that end as on Windows": {
			"resource \"t\" \"a\" {\r\n  size = 1\r\n  text = <<EOT\r\nhello\r\nEOT\r\n}\r\n", `{"size":2,"name":"b","text":"bye"}`, `{"size":1,"name":null,"text":"hello\r\n"}`,
			"resource \"t\" \"a\" {\r\n  size = 2\r\n  text = \"bye\"\r\n  name = \"b\"\r\n}\r\n",
		},
		"tabs": {
			"resource \"t\" \"a\" {\n\tsize = 1\n\ttags = {\n\t\ta = 1\n\t}\n}\n", `{"size":1,"name":"b","tags":{"a":1,"é":"日"}}`, `{"size":1,"name":null,"tags":{"a":1}}`,
			"resource \"t\" \"a\" {\n\tsize = 1\n\ttags = {\n\t\ta = 1\n\t\té = \"日\"\n\t}\n\tname = \"b\"\n}\n",
		},
		"heredocs": {
			"resource \"t\" \"a\" {\n  text = <<EOT\nhello\nEOT\n  tags = {\n    a = <<-EOT\n      x\n    EOT\n  }\n}\n", `{"text":null,"tags":{"a":"y\n","b":"z"}}`, `{"text":"hello\n","tags":{"a":"x\n"}}`,
			"resource \"t\" \"a\" {\n  tags = {\n    a = \"y\\n\"\n    b = \"z\"\n  }\n}\n",
		},
		"a set in another order than the plan's": {
			"resource \"t\" \"a\" {\n  ports = [\n    443, # tls\n    80,  # plain\n  ]\n  cidrs = [\"192.168.0.0/16\", \"10.0.0.0/8\"]\n}\n",
			`{"ports":[80,8443],"cidrs":["10.0.0.0/8","192.168.7.0/24"]}`, `{"ports":[80,443],"cidrs":["10.0.0.0/8","192.168.0.0/16"]}`,
			"resource \"t\" \"a\" {\n  ports = [\n    8443, # tls\n    80,  # plain\n  ]\n  cidrs = [\"192.168.7.0/24\", \"10.0.0.0/8\"]\n}\n",
		},
		"a set of all other values": {
			"resource \"t\" \"a\" {\n  ports = [\"443\", 80]\n}\n", `{"ports":[1,2]}`, `{"ports":[80,443]}`,
			"resource \"t\" \"a\" {\n  ports = [1, 2]\n}\n",
		},
		"a set of objects": {
			"resource \"t\" \"a\" {\n  ports = [{ n = \"b\" }, { n = \"a\" }]\n}\n", `{"ports":[{"n":"a"},{"n":"c"}]}`, `{"ports":[{"n":"a"},{"n":"b"}]}`,
			"resource \"t\" \"a\" {\n  ports = [{\n    n = \"a\"\n    }, {\n    n = \"c\"\n  }]\n}\n",
		},
		"a list of objects, of which some say more": {
			"resource \"t\" \"a\" {\n  ports = [{ n = \"a\" }, { n = \"a\", p = 1 }]\n}\n", `{"ports":[{"n":"a","p":null},{"n":"a","p":2}]}`, `{"ports":[{"n":"a","p":null},{"n":"a","p":1}]}`,
			"resource \"t\" \"a\" {\n  ports = [{ n = \"a\" }, { n = \"a\", p = 2 }]\n}\n",
		},
		"a list with a variable beside": {
			"variable \"v\" {}\nresource \"t\" \"a\" {\n  ports = [var.v, 80]\n}\n", `{"ports":[1,2]}`, `{"ports":[1,80]}`,
			"variable \"v\" {}\nresource \"t\" \"a\" {\n  ports = [var.v, 2]\n}\n",
		},
		"a set in the only block": {
			"resource \"t\" \"a\" {\n  rule {\n    ports = [2, 1]\n    n = 1\n  }\n}\n", `{"rule":[{"ports":[1,3],"n":2}]}`, `{"rule":[{"ports":[1,2],"n":1}]}`,
			"resource \"t\" \"a\" {\n  rule {\n    ports = [3, 1]\n    n = 2\n  }\n}\n",
		},
		"of a name that is written twice the last": {
			"resource \"t\" \"a\" {\n  tags = { A = \"1\", A = \"2\", 3 = \"x\" }\n}\n", `{"tags":{"A":"3","3":"y"}}`, `{"tags":{"A":"2","3":"x"}}`,
			"resource \"t\" \"a\" {\n  tags = { A = \"1\", A = \"3\", 3 = \"y\" }\n}\n",
		},
		"a name that begins an expression": {
			"resource \"t\" \"a\" {\n  tags = {}\n  x = [1, 2]\n  labels = {\n  }\n}\n", `{"tags":{"for":"1"},"x":[{"for":[{"for":1}]}],"labels":{"for":"1","in":"2"}}`, `{"tags":{},"x":[1,2],"labels":{}}`,
			"resource \"t\" \"a\" {\n  tags = { \"for\" = \"1\" }\n  x = [{\n    \"for\" = [{\n      \"for\" = 1\n    }]\n  }]\n  labels = {\n    \"for\" = \"1\"\n    in = \"2\"\n  }\n}\n",
		},
		"what only the provider sets stays out": {
			"resource \"t\" \"a\" {\n  size = 1\n}\n", `{"size":2,"computed":"x"}`, `{"size":1,"computed":null}`, "resource \"t\" \"a\" {\n  size = 2\n}\n",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, diags := rewrite(t, map[string]string{"main.tf": test.source}, planOf("t.a", test.real, test.want))
			if err := diags.Err(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.result, string(got["main.tf"])); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	change := planOf("t.a", `{"size":2}`, `{"size":1}`)
	tests := map[string]struct {
		files map[string]string
		plan  string
		want  string
	}{
		"a variable":                       {map[string]string{"main.tf": "variable \"n\" {\n  default = 1\n}\nresource \"t\" \"a\" {\n  size = var.n\n}\n"}, change, "main.tf:1. Change it there. The real value is 2."},
		"a local":                          {map[string]string{"main.tf": "locals {\n  n = 1\n}\nresource \"t\" \"a\" {\n  size = local.n\n}\n"}, change, "main.tf:2."},
		"a module's argument":              {map[string]string{"main.tf": "module \"m\" {\n  source = \"./m\"\n  n = 1\n}\n", "m/main.tf": "variable \"n\" {}\nresource \"t\" \"a\" {\n  size = var.n\n}\n"}, planOf("module.m.t.a", `{"size":2}`, `{"size":1}`), "main.tf:3."},
		"a function":                       {map[string]string{"main.tf": "resource \"t\" \"a\" {\n  size = max(1, 0)\n}\n"}, change, "a function's result"},
		"several instances":                {map[string]string{"main.tf": "resource \"t\" \"a\" {\n  count = 2\n  size = 1\n}\n"}, planOf("t.a[0]", `{"size":2}`, `{"size":1}`), "Block declares several instances"},
		"a secret":                         {map[string]string{"main.tf": "resource \"t\" \"a\" {\n  secret = \"x\"\n}\n"}, planOf("t.a", `{"secret":"hunter2"}`, `{"secret":"x"}`), "Value is sensitive"},
		"more blocks":                      {map[string]string{"main.tf": "resource \"t\" \"a\" {\n  rule {\n    port = 1\n  }\n}\n"}, planOf("t.a", `{"rule":[{"port":1},{"port":2}]}`, `{"rule":[{"port":1}]}`), "Blocks cannot be adopted"},
		"blocks in another order":          {map[string]string{"main.tf": "resource \"t\" \"a\" {\n  peer {\n    service = \"z\"\n  }\n  peer {\n    cidr = \"b\"\n  }\n}\n"}, planOf("t.a", `{"peer":[{"cidr":"c","service":null},{"cidr":null,"service":"z"}]}`, `{"peer":[{"cidr":"b","service":null},{"cidr":null,"service":"z"}]}`), "t.a.peer differs as a whole"},
		"blocks that variables tell apart": {map[string]string{"main.tf": "variable \"v\" {}\nvariable \"w\" {}\nresource \"t\" \"a\" {\n  peer {\n    n = var.v\n    p = 1\n  }\n  peer {\n    n = var.w\n    p = 1\n  }\n}\n"}, planOf("t.a", `{"peer":[{"n":"a","p":2},{"n":"b","p":1}]}`, `{"peer":[{"n":"a","p":1},{"n":"b","p":1}]}`), "Blocks cannot be adopted"},
		"a set with a variable":            {map[string]string{"main.tf": "variable \"v\" {}\nresource \"t\" \"a\" {\n  ports = [443, var.v]\n}\n"}, planOf("t.a", `{"ports":[80,8443]}`, `{"ports":[80,443]}`), "Value comes from elsewhere"},
		"a set that is secret":             {map[string]string{"main.tf": "resource \"t\" \"a\" {\n  deep = { list = [{ n = 2, k = \"x\" }, { n = 1, k = \"y\" }] }\n}\n"}, planOf("t.a", `{"deep":{"list":[{"n":1,"k":"hunter2"},{"n":3,"k":"x"}]}}`, `{"deep":{"list":[{"n":1,"k":"y"},{"n":2,"k":"x"}]}}`), "Value is sensitive"},
		"a key from a local":               {map[string]string{"main.tf": "locals {\n  k = \"a\"\n}\nresource \"t\" \"a\" {\n  tags = { (local.k) = \"1\" }\n}\n"}, planOf("t.a", `{"tags":{"a":"2"}}`, `{"tags":{"a":"1"}}`), "main.tf:2. Change it there."},
		"secret by now":                    {map[string]string{"main.tf": "resource \"t\" \"a\" {\n  hidden = \"x\"\n}\n"}, planOf("t.a", `{"hidden":"hunter2"}`, `{"hidden":"x"}`), "Value is sensitive"},
		"a secret in a map":                {map[string]string{"main.tf": "resource \"t\" \"a\" {\n  deep = { list = [{ k = \"x\" }] }\n}\n"}, planOf("t.a", `{"deep":{"list":[{"k":"hunter2"}]}}`, `{"deep":{"list":[{"k":"x"}]}}`), "Value is sensitive"},
		"a new secret":                     {map[string]string{"main.tf": "resource \"t\" \"a\" {\n  deep = {}\n}\n"}, planOf("t.a", `{"deep":{"list":[{"k":"hunter2"}]}}`, `{"deep":{}}`), "is not written into configuration"},
		"an override file":                 {map[string]string{"main.tf": "resource \"t\" \"a\" {\n  size = 5\n}\n", "x_override.tf": "resource \"t\" \"a\" {\n  size = 1\n}\n"}, change, "an override file says"},
		"a dynamic block":                  {map[string]string{"main.tf": "resource \"t\" \"a\" {\n  dynamic \"rule\" {\n    for_each = [1]\n    content {\n      port = rule.value\n    }\n  }\n}\n"}, planOf("t.a", `{"rule":[{"port":2}]}`, `{"rule":[{"port":1}]}`), "made by a dynamic block"},
		"not declared":                     {map[string]string{"main.tf": ""}, change, "Resource is not declared"},
		"JSON":                             {map[string]string{"main.tf.json": `{"resource":{"t":{"a":{"size":1}}}}`}, change, "declared in JSON"},
		"still referred to":                {map[string]string{"main.tf": "resource \"t\" \"a\" {}\noutput \"o\" {\n  value = t.a.id\n}\n"}, gone, "Resource is still referred to"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, diags := rewrite(t, test.files, test.plan)
			if err := diags.Err(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if strings.Contains(diags.Err().Error(), "hunter2") {
				t.Errorf("the refusal tells the secret: %v", diags.Err())
			}
			if len(got) > 0 {
				t.Errorf("files were changed: %s", got)
			}
		})
	}
}

// What cannot be done is refused by name, and the other changes of the file are made.
func TestOneChangeOfSeveralIsRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		plan    string
		refused []string
	}{
		"it would leave a file that cannot be read": {
			planOf("t.a", `{"size":2,"n":null,"x y":1,"z":2}`, `{"size":1,"n":1,"x y":null,"z":null}`),
			[]string{"t.a.x y cannot be adopted, because its place", "t.a.z cannot be adopted, because its place"},
		},
		"it is made to the same text": {
			strings.Replace(planOf("t.a", `{"size":2,"n":null}`, `{"size":1,"n":1}`), `"resource_drift":[`, `"resource_drift":[{"address":"t.a","mode":"managed","change":{"actions":["update"]}},`, 1),
			[]string{"t.a.n cannot be adopted, because another change", "t.a.size cannot be adopted, because another change"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, diags := rewrite(t, map[string]string{"main.tf": "resource \"t\" \"a\" {\n  size = 1\n  n    = 1\n}\n"}, test.plan)
			if want := "resource \"t\" \"a\" {\n  size = 2\n}\n"; string(got["main.tf"]) != want {
				t.Errorf("got %q, want %q", got["main.tf"], want)
			}
			if len(diags) != len(test.refused) {
				t.Errorf("got %v, want %d refusals", diags.Err(), len(test.refused))
			}
			for _, refused := range test.refused {
				if err := diags.Err(); err == nil || !strings.Contains(err.Error(), refused) {
					t.Errorf("got %v, want %q", err, refused)
				}
			}
		})
	}
}

const gone = `{"resource_drift":[{"address":"t.a","mode":"managed","change":{"actions":["delete"]}}]}`

func TestDeletedObject(t *testing.T) {
	t.Parallel()
	got, diags := rewrite(t, map[string]string{"main.tf": "# first\nresource \"t\" \"a\" {\n  size = 1\n}\n\nresource \"t\" \"b\" {}\n"}, gone)
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	want := "# first\nremoved {\n  from = t.a\n\n  lifecycle {\n    destroy = false\n  }\n}\n\nresource \"t\" \"b\" {}\n"
	if diff := cmp.Diff(want, string(got["main.tf"])); diff != "" {
		t.Error(diff)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	drift, err := adopt.Read([]byte(planOf("t.a", `{"tags":{"a b":"2"},"rule":[{"port":3}]}`, `{"tags":{"a b":"1"},"rule":[{"port":2}]}`)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range drift {
		names = append(names, d.Name())
	}
	if diff := cmp.Diff([]string{"t.a.rule[0].port", `t.a.tags["a b"]`}, names); diff != "" {
		t.Error(diff)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(gone))
	f.Add([]byte(planOf("t.a", `{"a":[1,{"b":null}]}`, `{"a":[2,{"b":"c"}]}`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		drift, err := adopt.Read(data)
		if err != nil {
			return
		}
		for _, d := range drift {
			_ = d.Name()
		}
	})
}

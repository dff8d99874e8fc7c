package lockfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/plugin/lockfile"
	"github.com/towline/terraform-provider-towline/internal/plugin/version"
)

const example = `# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "registry.terraform.io/hashicorp/aws" {
  version     = "5.100.0"
  constraints = ">= 4.0.0, ~> 5.0"
  hashes = [
    "h1:edXOJWE4ORX8Fm+dpVpICzMZJat4AX0VRCAy/xkcOc0=",
    "zh:054b8dd49f0549c9a7cc27d159e45327b7b65cf404da5e5a20da154b90b8a644",
  ]
}

provider "registry.terraform.io/hashicorp/time" {
  version = "0.13.1"
}
`

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	locks, diags := lockfile.Parse([]byte(example), "lock")
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	aws, err := addrs.ParseProviderSource("hashicorp/aws")
	if err != nil {
		t.Fatal(err)
	}
	if got := locks[aws]; got.Version.String() != "5.100.0" || got.Constraints.String() != ">= 4.0.0, ~> 5.0" || len(got.Hashes) != 2 {
		t.Errorf("got %+v", got)
	}
	if got := string(locks.Bytes()); got != example {
		t.Errorf("got:\n%s", got)
	}
}

func TestBytesNormalize(t *testing.T) {
	t.Parallel()
	v, err := version.Parse("1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	locks := lockfile.Locks{
		{Hostname: "registry.terraform.io", Namespace: "b", Type: "a"}:   {Version: v},
		{Hostname: "registry.terraform.io", Namespace: "a-c", Type: "a"}: {Version: v},
		{Hostname: "registry.terraform.io", Namespace: "a", Type: "z"}:   {Version: v, Hashes: []string{"zh:2", "h1:1", "zh:2"}},
		{Hostname: "example.com", Namespace: "z", Type: "z"}:             {Version: v},
	}
	got := string(locks.Bytes())
	last := 0
	for _, part := range []string{"example.com/z/z", ".io/a/z", `"h1:1"`, `"zh:2"`, ".io/a-c/a", ".io/b/a"} {
		at := strings.Index(got, part)
		if at < last {
			t.Errorf("%s is missing or misplaced in:\n%s", part, got)
		}
		last = at
	}
	if strings.Count(got, "zh:2") != 1 {
		t.Errorf("a hash stands twice in:\n%s", got)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	block := func(body string) string {
		return "provider \"registry.terraform.io/hashicorp/aws\" {\n" + body + "\n}\n"
	}
	for name, test := range map[string]struct{ src, want string }{
		"syntax":              {`provider {`, "Unclosed configuration block"},
		"short address":       {`provider "hashicorp/aws" {}`, "Invalid provider source address"},
		"built-in":            {`provider "terraform.io/builtin/terraform" {}`, "Invalid provider source address"},
		"not an address":      {`provider "a/b/c/d" {}`, "Invalid provider source address"},
		"no version":          {block(``), "Missing required argument"},
		"bad version":         {block(`version = "x"`), "Invalid provider version number"},
		"short version":       {block(`version = "1.2"`), "Invalid provider version number"},
		"version of a type":   {block(`version = [1]`), "Incorrect attribute value type"},
		"version by variable": {block(`version = a.b`), "Variables not allowed"},
		"bad constraints":     {block("version = \"1.0.0\"\nconstraints = \"=> x\""), "Invalid provider version constraints"},
		"hashes not a list":   {block("version = \"1.0.0\"\nhashes = 1"), "Invalid expression"},
		"no hashes":           {block("version = \"1.0.0\"\nhashes = []"), "Invalid provider hash set"},
		"hash of no scheme":   {block("version = \"1.0.0\"\nhashes = [\"abc\"]"), "Invalid provider hash string"},
		"hash of a number":    {block("version = \"1.0.0\"\nhashes = [null]"), "Invalid provider hash string"},
		"twice":               {block(`version = "1.0.0"`) + block(`version = "1.0.0"`), "Duplicate provider lock"},
		"unknown block":       {`resource "a" "b" {}`, "Unsupported block type"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, diags := lockfile.Parse([]byte(test.src), "lock")
			if !diags.HasErrors() || diags[0].Summary != test.want || diags[0].Subject == nil {
				t.Errorf("got %+v, want %q", diags, test.want)
			}
		})
	}
}

func TestModuleLocksAreIgnored(t *testing.T) {
	t.Parallel()
	locks, diags := lockfile.Parse([]byte(`module "x" {}`), "lock")
	if diags.HasErrors() || len(diags) != 1 || len(locks) != 0 {
		t.Errorf("got %v, %v", locks, diags)
	}
}

func TestFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), lockfile.Name)
	locks, diags := lockfile.Read(path)
	if len(locks) != 0 || len(diags) != 0 {
		t.Errorf("a missing file gives %v, %v", locks, diags)
	}
	locks, diags = lockfile.Parse([]byte(example), "lock")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for range 2 {
		if err := locks.Write(path); err != nil {
			t.Fatal(err)
		}
	}
	again, diags := lockfile.Read(path)
	if diags.HasErrors() || string(again.Bytes()) != example {
		t.Errorf("read back %v, %v", again, diags)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("%d files are left (%v), want the lock file alone", len(entries), err)
	}
	if _, diags := lockfile.Read(filepath.Dir(path)); len(diags) != 1 || diags[0].Summary != "Failed to read dependency lock file" {
		t.Errorf("reading a folder gives %v", diags)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(example))
	f.Add([]byte(`provider "a/b/c" { hashes = [for x in y : x] }`))
	f.Fuzz(func(t *testing.T, src []byte) {
		locks, diags := lockfile.Parse(src, "lock")
		if diags.HasErrors() {
			return
		}
		again, diags := lockfile.Parse(locks.Bytes(), "lock")
		if diags.HasErrors() || string(again.Bytes()) != string(locks.Bytes()) {
			t.Errorf("what was written reads back otherwise: %v", diags)
		}
	})
}

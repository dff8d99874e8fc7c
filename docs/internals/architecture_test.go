package internals_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

// named are the folders that architecture.md names between backquotes.
func named(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, match := range regexp.MustCompile("`((?:\\.ci|agent|docs|examples|internal|provider|tools)(?:/[a-z0-9/-]+)?)`").FindAllStringSubmatch(string(text), -1) {
		out[match[1]] = true
	}
	return out
}

// TestNamedFoldersExist keeps the page from telling of folders that are gone.
func TestNamedFoldersExist(t *testing.T) {
	t.Parallel()
	folders := named(t)
	if len(folders) < 40 {
		t.Errorf("the page names only %d folders; is it read rightly?", len(folders))
	}
	for folder := range folders {
		if info, err := os.Stat(filepath.Join(root, folder)); err != nil || !info.IsDir() {
			t.Errorf("architecture.md names %s, which is no folder", folder)
		}
	}
}

// TestPackagesAreNamed keeps the page from missing a package, and packages from
// missing their own words.
func TestPackagesAreNamed(t *testing.T) {
	t.Parallel()
	folders := named(t)
	for _, dir := range packages(t) {
		if !folders[dir] {
			t.Errorf("architecture.md does not name %s", dir)
		}
		if !documented(t, dir) {
			t.Errorf("%s has no package comment", dir)
		}
	}
}

// packages lists the folders of this module that hold Go files other than tests.
func packages(t *testing.T) []string {
	t.Helper()
	seen := map[string]bool{}
	var out []string
	eachGoFile(t, func(path string) error {
		dir, err := filepath.Rel(root, filepath.Dir(path))
		if err == nil && !strings.HasSuffix(path, "_test.go") && !seen[dir] {
			seen[dir] = true
			out = append(out, filepath.ToSlash(dir))
		}
		return err
	})
	return out
}

// eachGoFile calls do for every Go file of this module's packages.
func eachGoFile(t *testing.T, do func(path string) error) {
	t.Helper()
	for _, top := range []string{"agent", "internal", "provider"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir():
				return skipOther(path, entry.Name())
			case !strings.HasSuffix(path, ".go"):
				return nil
			}
			return do(path)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// skipOther leaves out folders that belong to no package of this module.
func skipOther(path, name string) error {
	if name == "testdata" {
		return fs.SkipDir
	}
	if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}

// documented tells whether a file of the folder has a comment right before its package clause.
func documented(t *testing.T, dir string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if regexp.MustCompile(`(?m)^// (Package|Command) .*\n(//.*\n)*package `).Match(text) {
			return true
		}
	}
	return false
}

package internals_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// tests are the tests of this module, as package.Name.
func tests(t *testing.T) map[string]bool {
	t.Helper()
	function := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	out := map[string]bool{}
	eachGoFile(t, func(path string) error {
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, match := range function.FindAllSubmatch(text, -1) {
			out[filepath.Base(filepath.Dir(path))+"."+string(match[1])] = true
		}
		return err
	})
	return out
}

// TestThreatModelNamesTests: each test that the page names is there, and each test of
// an attack is on the page.
func TestThreatModelNamesTests(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("threat-model.md")
	if err != nil {
		t.Fatal(err)
	}
	there, named := tests(t), map[string]bool{}
	for _, match := range regexp.MustCompile("`([a-z]+\\.Test\\w+)`").FindAllStringSubmatch(string(text), -1) {
		named[match[1]] = true
	}
	for name := range named {
		if !there[name] {
			t.Errorf("the page names %s, which is no test", name)
		}
	}
	attacks := 0
	for name := range there {
		if strings.Contains(name, ".TestAttack") {
			attacks++
			if !named[name] {
				t.Errorf("the page does not name %s", name)
			}
		}
	}
	if attacks < 25 {
		t.Errorf("there are only %d tests of attacks; are they found rightly?", attacks)
	}
}

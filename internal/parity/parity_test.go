package parity

import (
	"os"
	"path"
	"slices"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/plugin/plugintest"
)

const differencesPage = "../../docs/internals/differences.md"

// TestParity runs every case. One is run with
//
//	go test ./internal/parity -run TestParity/HEADING/CASE
func TestParity(t *testing.T) {
	t.Parallel()
	cases, err := Cases("testdata")
	if err != nil {
		t.Fatal(err)
	}
	bench, err := Build(t.Context(), t.TempDir(), map[string]string{"hashicorp/time": plugintest.Build(t, plugintest.Time)})
	if err != nil {
		t.Fatal(err)
	}
	headings := map[string][]Case{}
	for _, c := range cases {
		headings[path.Dir(c.Name)] = append(headings[path.Dir(c.Name)], c)
	}
	for heading, cases := range headings {
		t.Run(heading, func(t *testing.T) {
			t.Parallel()
			for _, c := range cases {
				t.Run(path.Base(c.Name), func(t *testing.T) {
					t.Parallel()
					result, err := bench.Run(t.Context(), c)
					if err != nil {
						t.Fatal(err)
					}
					for _, d := range result.Differences {
						t.Error(d)
					}
				})
			}
		})
	}
}

// Every difference that a case knows of is on the page that lists them.
func TestKnownDifferencesAreListed(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(differencesPage)
	if err != nil {
		t.Fatal(err)
	}
	entries := KnownEntries(string(page))
	cases, err := Cases("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		for _, s := range c.Steps {
			for _, k := range s.Known {
				if !slices.Contains(entries, k.Entry) {
					t.Errorf("%s, %s: %q is not in %s", c.Name, s, k.Entry, differencesPage)
				}
			}
		}
	}
}

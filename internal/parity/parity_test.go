package parity

import (
	"flag"
	"os"
	"path"
	"slices"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/plugin/plugintest"
)

const differencesPage = "../../docs/internals/differences.md"

// record has terraform run the cases whose results are kept, and keeps them anew.
var record = flag.Bool("record", false, "keep what terraform shows in the cases with the AWS provider")

// cross has both programs plan in each other's directory in these cases, too.
var cross = flag.Bool("cross", false, "plan in each other's directory in the cases with the AWS provider")

// TestParity runs every case. One is run with
//
//	go test ./internal/parity -run TestParity/HEADING/CASE
func TestParity(t *testing.T) {
	t.Parallel()
	cases, err := Cases("testdata")
	if err != nil {
		t.Fatal(err)
	}
	bench := newBench(t)
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
					runCase(t, bench, c)
				})
			}
		})
	}
}

// newBench has all programs ready.
func newBench(t *testing.T) *Bench {
	t.Helper()
	bench, err := Build(t.Context(), t.TempDir(), map[string]string{
		"hashicorp/time": plugintest.Build(t, plugintest.Time),
		"towline/fault":  plugintest.Build(t, plugintest.Fault),
		"towline/v5":     plugintest.Build(t, plugintest.Proto5),
	})
	if err != nil {
		t.Fatal(err)
	}
	bench.Recording, bench.Crossing = *record, *cross
	t.Cleanup(bench.Close)
	return bench
}

func runCase(t *testing.T, bench *Bench, c Case) {
	t.Helper()
	run := bench.Run
	if c.Recorded() {
		if err := bench.OverrideAWS(plugintest.AWS(t)); err != nil {
			t.Fatal(err)
		}
		if bench.Recording {
			run = bench.Record
		}
	}
	differences, err := run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range differences {
		t.Error(d)
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

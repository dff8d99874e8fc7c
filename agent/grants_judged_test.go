package agent

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/towline/terraform-provider-towline/internal/repository"
)

// TestJudgementHolds: grants that were judged are not judged again while nothing has
// changed and little time has gone by.
func TestJudgementHolds(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		reading int
		add     bool
		now     time.Time
		want    bool
	}{
		"nothing has changed":    {3, false, noon.Add(rejudgeAfter - 1), true},
		"the store was read":     {4, false, noon, false},
		"there is another file":  {3, true, noon, false},
		"after a while":          {3, false, noon.Add(rejudgeAfter), false},
		"the clock was set back": {3, false, noon.Add(-1), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			folder := repository.OpenGrantFolder(dir, "prod")
			put := func(name string) {
				path := filepath.Join(dir, "grants", name)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
					t.Fatal(err)
				}
				old := time.Now().Add(-time.Hour)
				if err := os.Chtimes(path, old, old); err != nil {
					t.Fatal(err)
				}
			}
			list := func() repository.GrantListing {
				listing, err := folder.List()
				if err != nil {
					t.Fatal(err)
				}
				return listing
			}
			put("g1.request.json")
			judged := judgedGrants{reading: 3, here: list(), at: noon}
			if test.add {
				put("g1.closures.0.json")
			}
			if got := judged.hold(test.reading, list(), test.now); got != test.want {
				t.Errorf("it holds: %v, want %v", got, test.want)
			}
		})
	}
}

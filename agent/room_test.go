package agent_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/control"
)

// maxWaiting is how many receipts wait at most while there is nothing new to tell.
const maxWaiting = 200

// size is what a folder holds, in bytes and in files.
func size(t *testing.T, dir string) (bytes int64, files int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			bytes, files = bytes+info.Size(), files+1
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return bytes, files
}

// TestStoreAwayForLong: however long the store is away, what waits for it stays bounded. What
// is news is still told, and in the end the chain has no gap.
func TestStoreAwayForLong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publish(twoThings)
	w.round(control.OutcomeApplied)
	w.store.set(true)
	rounds := func(n int) {
		for range n {
			w.advance(time.Minute)
			w.agent.Round(t.Context())
		}
	}
	rounds(maxWaiting + 50)
	data := filepath.Join(w.dir, "data")
	bytes, files := size(t, data)
	rounds(50)
	if more, moreFiles := size(t, data); more > bytes || moreFiles > files {
		t.Errorf("the folder grew from %d bytes in %d files to %d in %d", bytes, files, more, moreFiles)
	}
	w.edit("a", "size", cty.NumberIntVal(9))
	rounds(2)
	waiting, err := os.ReadDir(filepath.Join(data, "outbox"))
	if err != nil || len(waiting) <= maxWaiting {
		t.Errorf("%d receipts wait, %v; want that of the correction too", len(waiting), err)
	}
	w.store.set(false)
	w.round(control.OutcomeConverged)
	receipts := w.receipts() // which verifies the chain
	told := 0
	for _, receipt := range receipts {
		if len(receipt.Changes) > 0 && receipt.Changes[0].Cause == "drift" {
			told++
		}
	}
	if told != 1 || len(receipts) > maxWaiting+10 {
		t.Errorf("%d receipts, %d of them of the correction", len(receipts), told)
	}
}

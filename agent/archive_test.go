package agent_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/bundle"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/repository"
)

// packed makes an archive of any entries, each of so many zeros.
func packed(t *testing.T, entries ...tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	encoder, err := zstd.NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	writer := tar.NewWriter(encoder)
	for _, entry := range entries {
		entry.Mode = 0o644
		if err := writer.WriteHeader(&entry); err != nil {
			t.Fatal(err)
		}
		if _, err := io.CopyN(writer, zeros{}, entry.Size); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(writer.Close(), encoder.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// zeros never ends.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestAttackHostileRevision has the holder of the channel's key publish archives that
// reach for more than a revision is. The running revision stays in force, drift is
// corrected by it, nothing is left on the machine, and the next honest one is taken.
func TestAttackHostileRevision(t *testing.T) {
	t.Parallel()
	file := func(name string, size int64) tar.Header {
		return tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size}
	}
	for name, archive := range map[string][]byte{
		"bomb":           packed(t, file("main.tf", bundle.DefaultLimits.FileSize+1)),
		"path escape":    packed(t, file("../../evil", 1)),
		"symbolic link":  packed(t, tar.Header{Typeflag: tar.TypeSymlink, Name: "evil", Linkname: "/etc"}),
		"duplicate name": packed(t, file("main.tf", 1), file("main.tf", 2)),
		"no archive":     []byte("evil"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.publish(twoThings)
			good := w.round(control.OutcomeApplied).Revision
			if _, _, err := w.repo.Publish(t.Context(), w.signing(), "stable", archive, repository.Note{}); err != nil {
				t.Fatal(err)
			}
			w.edit("a", "size", cty.NumberIntVal(9))
			receipt := w.round(control.OutcomeApplied)
			if receipt.Revision != good || !strings.Contains(problems(receipt), "New revision not usable") {
				t.Errorf("revision %s is in force, want %s: %s", receipt.Revision, good, problems(receipt))
			}
			if !w.attribute("a", "size").RawEquals(cty.NumberIntVal(1)) || w.creations() != 2 {
				t.Errorf("the manual change stands, or %d things were created and not 2", w.creations())
			}
			w.wantNothingLeft(good)
			w.publish(twoThings + "\n# honest\n")
			if receipt := w.round(control.OutcomeConverged); receipt.Revision == good || len(receipt.Problems) != 0 {
				t.Errorf("the honest revision was not taken: %s", problems(receipt))
			}
		})
	}
}

// wantNothingLeft checks that the data folder holds one unpacked revision and nothing evil.
func (w *world) wantNothingLeft(revision string) {
	w.t.Helper()
	entries, err := os.ReadDir(w.data("revisions"))
	if err != nil || len(entries) != 1 || entries[0].Name() != revision {
		w.t.Errorf("unpacked are %v, %v; want %s alone", entries, err, revision)
	}
	err = filepath.WalkDir(w.dir, func(path string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(path, "evil") {
			w.t.Errorf("%s was left", path)
		}
		return err
	})
	if err != nil {
		w.t.Error(err)
	}
}

package file_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/objstore/file"
	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest"
)

func TestMain(m *testing.M) { os.Exit(objstoretest.Main(m)) }

func TestConformance(t *testing.T) {
	t.Parallel()
	objstoretest.Run(t, objstoretest.Target{
		Open:   func(t *testing.T) objstore.Store { return openStore(t, t.TempDir()) },
		Shared: true,
	})
}

// TestCrashedWriter leaves what a writer leaves that dies before its link or rename.
func TestCrashedWriter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	openStore(t, dir)
	old, recent := filepath.Join(dir, ".towline/tmp/OLD"), filepath.Join(dir, ".towline/tmp/RECENT")
	for _, name := range []string{old, recent} {
		if err := os.WriteFile(name, []byte("half a wri"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	twoHoursAgo := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(old, twoHoursAgo, twoHoursAgo); err != nil {
		t.Fatal(err)
	}

	store := openStore(t, dir)
	for info, err := range store.List(t.Context(), "") {
		t.Errorf("List yields %q, %v; want nothing", info.Key, err)
	}
	if _, err := os.Stat(old); !os.IsNotExist(err) {
		t.Errorf("the old leftover is still there: %v", err)
	}
	if _, err := os.Stat(recent); err != nil {
		t.Errorf("the file of a writer that may be alive was removed: %v", err)
	}
	if _, err := store.PutIfAbsent(t.Context(), "a/b", []byte("x")); err != nil {
		t.Errorf("PutIfAbsent after the crash: %v", err)
	}
}

// TestEscapeBySymlink has someone plant a link to a file outside the store.
func TestEscapeBySymlink(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	store := openStore(t, dir)
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "planted")); err != nil {
		t.Fatal(err)
	}
	if got, err := store.Get(t.Context(), "planted", 100); err == nil {
		t.Errorf("Get followed a link out of the store and read %q", got.Data)
	}
	if _, err := store.Put(t.Context(), "planted", []byte("x")); err != nil {
		t.Errorf("Put over a planted link: %v", err)
	}
	if got, _ := os.ReadFile(outside); string(got) != "secret" {
		t.Errorf("Put wrote through the link: %q", got)
	}
}

func TestPrivateFiles(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	if _, err := openStore(t, dir).Put(t.Context(), "a/b", []byte("x")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{"": 0o700, "a": 0o700, "a/b": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("mode of %q = %v, %v; want %v", name, info.Mode().Perm(), err, want)
		}
	}
}

func TestOpenRefusesRelativePath(t *testing.T) {
	t.Parallel()
	if _, err := file.Open("some/dir"); err == nil {
		t.Error("a relative path was accepted")
	}
}

func openStore(t *testing.T, dir string) *file.Store {
	t.Helper()
	store, err := file.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// A named pipe has no end, and opening one waits for a writer.
func TestPipeIsNoObject(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := openStore(t, dir)
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Get(t.Context(), "pipe", 10); !errors.Is(err, objstore.ErrNotExist) {
		t.Errorf("Get: %v", err)
	}
	if _, err := store.Stat(t.Context(), "pipe"); !errors.Is(err, objstore.ErrNotExist) {
		t.Errorf("Stat: %v", err)
	}
}

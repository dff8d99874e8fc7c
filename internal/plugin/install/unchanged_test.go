package install

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

func TestRememberedHashes(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only on Linux are hashes remembered")
	}
	tests := map[string]struct {
		change func(t *testing.T, program string)
		// remembered tells that the first hash is given again without being computed.
		remembered bool
	}{
		"unchanged": {func(*testing.T, string) {}, true},
		"other content of the same size, with the times put back": {func(t *testing.T, program string) {
			info, err := os.Stat(program)
			must(t, err)
			must(t, os.WriteFile(program, []byte("#!/bin/no"), 0o600))
			must(t, os.Chtimes(program, info.ModTime(), info.ModTime()))
		}, false},
		"exchanged by another file, with the times put back": {func(t *testing.T, program string) {
			info, err := os.Stat(program)
			must(t, err)
			must(t, os.WriteFile(program+".new", []byte("#!/bin/no"), 0o600))
			must(t, os.Chtimes(program+".new", info.ModTime(), info.ModTime()))
			must(t, os.Rename(program+".new", program))
		}, false},
		"a file more": {func(t *testing.T, program string) {
			must(t, os.WriteFile(program+"-more", nil, 0o600))
		}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			program := filepath.Join(dir, "terraform-provider-a")
			must(t, os.WriteFile(program, []byte("#!/bin/sh"), 0o600))
			memory := hashMemory{t.TempDir(), func() time.Time { return time.Now().Add(time.Hour) }}
			first, err := memory.of(dir)
			must(t, err)
			plant(t, memory.dir) // what is remembered can now be told from what is computed
			test.change(t, program)
			got, err := memory.of(dir)
			must(t, err)
			if want, err := hashDir(dir); err != nil || (got == "h1:planted") != test.remembered || (!test.remembered && got != want) {
				t.Errorf("got %s after %s, computed %s, %v", got, first, want, err)
			}
		})
	}
}

// What changed a moment ago may change again within the same tick of the clock.
func TestFreshPackagesAreNotRemembered(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "terraform-provider-a"), []byte("#!/bin/sh"), 0o600))
	memory := hashMemory{t.TempDir(), time.Now}
	if _, err := memory.of(dir); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(memory.dir); err != nil || len(entries) != 0 {
		t.Errorf("remembered %v, %v", entries, err)
	}
}

// plant replaces the hash in the one memory of a folder.
func plant(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("got %v, %v, want one memory", entries, err)
	}
	path := filepath.Join(dir, entries[0].Name())
	data, err := os.ReadFile(path)
	must(t, err)
	stamp := data[:len(digest(""))]
	must(t, os.WriteFile(path, append(stamp, "\nh1:planted\n"...), 0o600))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

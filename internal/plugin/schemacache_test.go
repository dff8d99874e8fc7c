package plugin

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/towline/terraform-provider-towline/internal/plugin/internal/lazyschema"
)

func TestSchemaCache(t *testing.T) {
	t.Parallel()
	want := &lazyschema.Response{Provider: []byte("p"), ResourceSchemas: map[string][]byte{"a": []byte("x")}}
	newCache := func(t *testing.T) diskCache {
		t.Helper()
		c := diskCache{filepath.Join(t.TempDir(), "cache")}
		if err := c.store("h1:one", 6, want); err != nil {
			t.Fatal(err)
		}
		return c
	}
	t.Run("what was kept comes back", func(t *testing.T) {
		t.Parallel()
		if got := newCache(t).load("h1:one", 6); !proto.Equal(got, want) {
			t.Errorf("got %v", got)
		}
	})
	t.Run("another package or protocol has no entry", func(t *testing.T) {
		t.Parallel()
		c := newCache(t)
		if c.load("h1:two", 6) != nil || c.load("h1:one", 5) != nil || c.load("", 6) != nil {
			t.Error("an entry was taken for another's")
		}
	})
	t.Run("damage is no entry", func(t *testing.T) {
		t.Parallel()
		c := newCache(t)
		path := c.path("h1:one", 6)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := range whole {
			flipped := bytes.Clone(whole)
			flipped[i] ^= 1
			for _, data := range [][]byte{flipped, whole[:i]} {
				if err := os.WriteFile(path, data, 0o600); err != nil {
					t.Fatal(err)
				}
				if c.load("h1:one", 6) != nil {
					t.Fatalf("an entry damaged at byte %d was used", i)
				}
			}
		}
	})
	t.Run("a failing answer is not kept", func(t *testing.T) {
		t.Parallel()
		c := diskCache{t.TempDir()}
		if err := c.store("h1:one", 6, &lazyschema.Response{Diagnostics: [][]byte{{}}}); err != nil || c.load("h1:one", 6) != nil {
			t.Error("an answer with problems was kept")
		}
	})
	t.Run("old entries go", func(t *testing.T) {
		t.Parallel()
		c := newCache(t)
		old := time.Now().Add(-maxEntryAge - time.Hour)
		if err := os.Chtimes(c.path("h1:one", 6), old, old); err != nil {
			t.Fatal(err)
		}
		if err := c.store("h1:two", 6, want); err != nil || c.load("h1:one", 6) != nil || c.load("h1:two", 6) == nil {
			t.Error("the old entry is still there, or the new one is not")
		}
	})
	t.Run("nowhere to keep", func(t *testing.T) {
		t.Parallel()
		if err := (diskCache{}).store("h1:one", 6, want); err != nil {
			t.Error(err)
		}
	})
}

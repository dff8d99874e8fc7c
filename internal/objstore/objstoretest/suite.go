package objstoretest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/towline/terraform-provider-towline/internal/objstore"
)

// Target is what the suite runs against.
type Target struct {
	// Open returns an empty store of its own for each test.
	Open func(t *testing.T) objstore.Store
	// Shared says that other processes reach the store by its URL.
	Shared bool
	// Sequential says that the server honours conditions, but looks before it writes
	// without a lock, so that races are left out: no store for more than one writer.
	Sequential bool
}

// Run runs the whole suite.
func Run(t *testing.T, target Target) {
	tests := map[string]func(*testing.T, objstore.Store){
		"Get":         testGet,
		"Stat":        testStat,
		"Put":         testPut,
		"PutIfAbsent": testPutIfAbsent,
		"PutIfMatch":  testPutIfMatch,
		"Delete":      testDelete,
		"Keys":        testKeys,
		"List":        testList,
		"ListPages":   testListPages,
		"ListStops":   testListStops,
		"Cancelled":   testCancelled,
		"WholeReads":  testWholeReads,
	}
	if !target.Sequential {
		tests["Races"] = testRaces
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, target.Open(t))
		})
	}
	if target.Shared && !target.Sequential {
		t.Run("RacingProcesses", func(t *testing.T) {
			t.Parallel()
			testRacingProcesses(t, target.Open(t))
		})
	}
}

func testGet(t *testing.T, store objstore.Store) {
	ctx := t.Context()
	_, err := store.Get(ctx, "a/b", 10)
	wantErr(t, "Get of nothing", err, objstore.ErrNotExist)
	version := must(store.Put(ctx, "a/b", []byte("hello")))(t)

	got, err := store.Get(ctx, "a/b", 5)
	wantErr(t, "Get at the limit", err, nil)
	if string(got.Data) != "hello" || got.Version != version {
		t.Errorf("Get = %q, version %q; want hello, version %q", got.Data, got.Version, version)
	}
	wantRecent(t, got.Modified)
	_, err = store.Get(ctx, "a/b", 4)
	wantErr(t, "Get over the limit", err, objstore.ErrTooLarge)
	_, err = store.Get(ctx, "a", 10)
	wantErr(t, "Get of a folder", err, objstore.ErrNotExist)
	_, err = store.Get(ctx, "a/b/c", 10)
	wantErr(t, "Get below an object", err, objstore.ErrNotExist)
}

func testStat(t *testing.T, store objstore.Store) {
	ctx := t.Context()
	_, err := store.Stat(ctx, "x")
	wantErr(t, "Stat of nothing", err, objstore.ErrNotExist)
	version := must(store.Put(ctx, "x", []byte("four")))(t)
	got, err := store.Stat(ctx, "x")
	wantErr(t, "Stat", err, nil)
	if got.Key != "x" || got.Size != 4 || got.Version != version {
		t.Errorf("Stat = %+v; want key x, size 4, version %q", got, version)
	}
	wantRecent(t, got.Modified)
}

func testPut(t *testing.T, store objstore.Store) {
	ctx := t.Context()
	first := must(store.Put(ctx, "x", []byte("one")))(t)
	second := must(store.Put(ctx, "x", []byte("two")))(t)
	if first == second {
		t.Errorf("two contents have the same version %q", first)
	}
	wantContent(t, store, "x", "two")
	must(store.Put(ctx, "empty", nil))(t)
	wantContent(t, store, "empty", "")
	large := strings.Repeat("towline ", 1<<17)
	must(store.Put(ctx, "large", []byte(large)))(t)
	wantContent(t, store, "large", large)
}

func testPutIfAbsent(t *testing.T, store objstore.Store) {
	ctx := t.Context()
	version := must(store.PutIfAbsent(ctx, "deep/er/x", []byte("one")))(t)
	_, err := store.PutIfAbsent(ctx, "deep/er/x", []byte("two"))
	wantErr(t, "second PutIfAbsent", err, objstore.ErrExist)
	_, err = store.PutIfAbsent(ctx, "deep/er/x", []byte("one"))
	wantErr(t, "PutIfAbsent of the same content", err, objstore.ErrExist)
	wantContent(t, store, "deep/er/x", "one")
	if got, err := store.Stat(ctx, "deep/er/x"); err != nil || got.Version != version {
		t.Errorf("Stat = %+v, %v; want version %q", got, err, version)
	}
	wantErr(t, "Delete", store.Delete(ctx, "deep/er/x"), nil)
	must(store.PutIfAbsent(ctx, "deep/er/x", []byte("three")))(t)
	wantContent(t, store, "deep/er/x", "three")
}

func testPutIfMatch(t *testing.T, store objstore.Store) {
	ctx := t.Context()
	_, err := store.PutIfMatch(ctx, "x", []byte("new"), "no-such-version")
	wantErr(t, "PutIfMatch of nothing", err, objstore.ErrNotExist)
	first := must(store.Put(ctx, "x", []byte("one")))(t)
	second := must(store.PutIfMatch(ctx, "x", []byte("two"), first))(t)
	_, err = store.PutIfMatch(ctx, "x", []byte("three"), first)
	wantErr(t, "PutIfMatch of an old version", err, objstore.ErrChanged)
	_, err = store.PutIfMatch(ctx, "x", []byte("three"), "")
	wantErr(t, "PutIfMatch without a version", err, objstore.ErrChanged)
	wantContent(t, store, "x", "two")
	must(store.PutIfMatch(ctx, "x", []byte("three"), second))(t)
	wantContent(t, store, "x", "three")
}

func testDelete(t *testing.T, store objstore.Store) {
	ctx := t.Context()
	wantErr(t, "Delete of nothing", store.Delete(ctx, "a/b"), nil)
	must(store.Put(ctx, "a/b", []byte("x")))(t)
	must(store.Put(ctx, "a/c", []byte("x")))(t)
	wantErr(t, "Delete", store.Delete(ctx, "a/b"), nil)
	_, err := store.Get(ctx, "a/b", 10)
	wantErr(t, "Get after Delete", err, objstore.ErrNotExist)
	wantContent(t, store, "a/c", "x")
	wantErr(t, "Delete of a folder", store.Delete(ctx, "a"), nil)
	wantContent(t, store, "a/c", "x")
	wantErr(t, "Delete", store.Delete(ctx, "a/c"), nil)
	must(store.Put(ctx, "a", []byte("was a folder")))(t)
	wantContent(t, store, "a", "was a folder")
}

func testKeys(t *testing.T, store objstore.Store) {
	ctx := t.Context()
	bad := []string{"", "/", "a/", "/a", "a//b", ".", "..", "a/../b", "a/.", ".hidden/x", "a b", "a\\b", "a\x00b", "ä", strings.Repeat("k", objstore.MaxKeyLength+1)}
	for _, key := range bad {
		_, err := store.Get(ctx, key, 10)
		wantErr(t, fmt.Sprintf("Get(%q)", key), err, objstore.ErrInvalidKey)
		_, err = store.Stat(ctx, key)
		wantErr(t, fmt.Sprintf("Stat(%q)", key), err, objstore.ErrInvalidKey)
		_, err = store.Put(ctx, key, nil)
		wantErr(t, fmt.Sprintf("Put(%q)", key), err, objstore.ErrInvalidKey)
		_, err = store.PutIfAbsent(ctx, key, nil)
		wantErr(t, fmt.Sprintf("PutIfAbsent(%q)", key), err, objstore.ErrInvalidKey)
		_, err = store.PutIfMatch(ctx, key, nil, "v")
		wantErr(t, fmt.Sprintf("PutIfMatch(%q)", key), err, objstore.ErrInvalidKey)
		wantErr(t, fmt.Sprintf("Delete(%q)", key), store.Delete(ctx, key), objstore.ErrInvalidKey)
	}
	for _, prefix := range []string{"/", "a//", "../", ".towline/"} {
		_, err := keys(ctx, store, prefix)
		wantErr(t, fmt.Sprintf("List(%q)", prefix), err, objstore.ErrInvalidKey)
	}
	good := "Az09/._-+=@~"[:3] + "x._-+=@~/" + strings.Repeat("k", 200)
	must(store.Put(ctx, good, []byte("x")))(t)
	wantContent(t, store, good, "x")
}

func testList(t *testing.T, store objstore.Store) {
	ctx := t.Context()
	for _, key := range []string{"b/z", "b-a", "b/a/c", "a", "b.x/y", "c/d", "b0"} {
		must(store.Put(ctx, key, []byte(key)))(t)
	}
	tests := map[string]struct {
		prefix string
		want   []string
	}{
		"all, in byte order":   {"", []string{"a", "b-a", "b.x/y", "b/a/c", "b/z", "b0", "c/d"}},
		"folder":               {"b/", []string{"b/a/c", "b/z"}},
		"part of a name":       {"b", []string{"b-a", "b.x/y", "b/a/c", "b/z", "b0"}},
		"part of a deep name":  {"b/a", []string{"b/a/c"}},
		"exactly one":          {"c/d", []string{"c/d"}},
		"nothing":              {"zzz/", nil},
		"object, not a folder": {"a/", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := keys(ctx, store, test.prefix)
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("List(%q) = %q, %v; want %q", test.prefix, got, err, test.want)
			}
		})
	}
	for info, err := range store.List(ctx, "c/") {
		if err != nil || info.Size != 3 || info.Version != "" {
			t.Errorf("List yields %+v, %v; want size 3 and no version", info, err)
		}
		wantRecent(t, info.Modified)
	}
}

// testListPages lists more than the 1,000 objects that S3 gives at once.
func testListPages(t *testing.T, store objstore.Store) {
	ctx := t.Context()
	var want []string
	for i := range 1203 {
		want = append(want, fmt.Sprintf("many/%05d", i))
	}
	forEach(t, 16, len(want), func(i int) error {
		_, err := store.PutIfAbsent(ctx, want[i], []byte("x"))
		return err
	})
	got, err := keys(ctx, store, "many/")
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("List yields %d keys, %v; want %d in order", len(got), err, len(want))
	}
}

func testListStops(t *testing.T, store objstore.Store) {
	ctx := t.Context()
	for _, key := range []string{"a/1", "a/2", "b/3"} {
		must(store.Put(ctx, key, nil))(t)
	}
	count := 0
	for _, err := range store.List(ctx, "") {
		if err != nil {
			t.Fatal(err)
		}
		count++
		if count == 2 {
			break
		}
	}
	if count != 2 {
		t.Errorf("the caller saw %d objects after stopping at 2", count)
	}
}

func testCancelled(t *testing.T, store objstore.Store) {
	must(store.Put(t.Context(), "x", []byte("kept")))(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := store.Get(ctx, "x", 10)
	wantErr(t, "Get", err, context.Canceled)
	_, err = store.Put(ctx, "x", []byte("lost"))
	wantErr(t, "Put", err, context.Canceled)
	_, err = keys(ctx, store, "")
	wantErr(t, "List", err, context.Canceled)
	wantContent(t, store, "x", "kept")
}

// wantErr checks that err wraps want; a nil want means no error.
func wantErr(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: error %v; want %v", what, err, want)
	}
}

func wantContent(t *testing.T, store objstore.Store, key, want string) {
	t.Helper()
	got, err := store.Get(t.Context(), key, 1<<21)
	if err != nil || string(got.Data) != want {
		t.Errorf("content of %s = %.40q, %v; want %.40q", key, got.Data, err, want)
	}
}

// wantRecent allows for a store's clock of seconds and for some skew.
func wantRecent(t *testing.T, got time.Time) {
	t.Helper()
	if age := time.Since(got); age < -time.Minute || age > 5*time.Minute {
		t.Errorf("modified %s ago", age)
	}
}

func keys(ctx context.Context, store objstore.Store, prefix string) ([]string, error) {
	var got []string
	for info, err := range store.List(ctx, prefix) {
		if err != nil {
			return got, err
		}
		got = append(got, info.Key)
	}
	return got, nil
}

func must[T any](value T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

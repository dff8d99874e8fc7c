package probe_test

import (
	"context"
	"errors"
	"iter"
	"math"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/objstore/file"
	"github.com/towline/terraform-provider-towline/internal/objstore/mem"
	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest"
	"github.com/towline/terraform-provider-towline/internal/objstore/probe"
)

// all asks everything, at a size that tests can afford.
var all = probe.Options{Size: 1 << 20, Pages: true}

// outcomes are the results by probe.
func outcomes(report probe.Report) map[string]probe.Outcome {
	got := map[string]probe.Outcome{}
	for _, result := range report.Results {
		got[result.Probe] = result.Outcome
	}
	return got
}

// wantGood checks that every probe is content and that nothing is left in the store.
func wantGood(t *testing.T, store objstore.Store) {
	t.Helper()
	report := probe.Run(t.Context(), store, all)
	if !report.MultiWriter() {
		t.Error("the store is refused for several writers")
	}
	for _, result := range report.Results {
		if result.Outcome != probe.OK {
			t.Errorf("%s: %s: %s", result.Probe, result.Outcome, result.Detail)
		}
	}
	for info, err := range store.List(t.Context(), "") {
		t.Errorf("the run leaves %q, %v", info.Key, err)
	}
}

func TestGoodStores(t *testing.T) {
	t.Parallel()
	t.Run("mem", func(t *testing.T) {
		t.Parallel()
		wantGood(t, mem.New(t.Name()))
	})
	t.Run("file", func(t *testing.T) {
		t.Parallel()
		store, err := file.Open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		wantGood(t, store)
	})
}

// liar is a store that breaks promises. Nil functions keep them.
type liar struct {
	objstore.Store
	get         func(context.Context, string, int64) (objstore.Object, error)
	stat        func(context.Context, string) (objstore.Info, error)
	put         func(context.Context, string, []byte) (objstore.Version, error)
	putIfAbsent func(context.Context, string, []byte) (objstore.Version, error)
	putIfMatch  func(context.Context, string, []byte, objstore.Version) (objstore.Version, error)
	list        func(context.Context, string) iter.Seq2[objstore.Info, error]
	del         func(context.Context, string) error
}

func (l liar) Get(ctx context.Context, key string, limit int64) (objstore.Object, error) {
	if l.get == nil {
		return l.Store.Get(ctx, key, limit)
	}
	return l.get(ctx, key, limit)
}

func (l liar) Stat(ctx context.Context, key string) (objstore.Info, error) {
	if l.stat == nil {
		return l.Store.Stat(ctx, key)
	}
	return l.stat(ctx, key)
}

func (l liar) Put(ctx context.Context, key string, data []byte) (objstore.Version, error) {
	if l.put == nil {
		return l.Store.Put(ctx, key, data)
	}
	return l.put(ctx, key, data)
}

func (l liar) PutIfAbsent(ctx context.Context, key string, data []byte) (objstore.Version, error) {
	if l.putIfAbsent == nil {
		return l.Store.PutIfAbsent(ctx, key, data)
	}
	return l.putIfAbsent(ctx, key, data)
}

func (l liar) PutIfMatch(ctx context.Context, key string, data []byte, version objstore.Version) (objstore.Version, error) {
	if l.putIfMatch == nil {
		return l.Store.PutIfMatch(ctx, key, data, version)
	}
	return l.putIfMatch(ctx, key, data, version)
}

func (l liar) List(ctx context.Context, prefix string) iter.Seq2[objstore.Info, error] {
	if l.list == nil {
		return l.Store.List(ctx, prefix)
	}
	return l.list(ctx, prefix)
}

func (l liar) Delete(ctx context.Context, key string) error {
	if l.del == nil {
		return l.Store.Delete(ctx, key)
	}
	return l.del(ctx, key)
}

// lies are ways to break a promise, over a store that keeps it.
var lies = map[string]struct {
	lie  func(good objstore.Store) liar
	want map[string]probe.Outcome
}{
	"ignores create-only": {ignoresAbsence, map[string]probe.Outcome{"create-only": probe.Broken, "create-race": probe.Broken, "compare-and-swap": probe.OK}},
	"ignores swaps":       {ignoresVersions, map[string]probe.Outcome{"create-only": probe.OK, "compare-and-swap": probe.Broken}},
	"looks, then writes":  {looksThenWrites, map[string]probe.Outcome{"create-only": probe.OK, "create-race": probe.Broken, "compare-and-swap": probe.OK, "swap-race": probe.Broken}},
	"stores nothing":      {storesNothing, map[string]probe.Outcome{"read": probe.Broken, "read-after-write": probe.Broken, "listing": probe.Broken}},
	"shows old content":   {staleReads, map[string]probe.Outcome{"read-after-write": probe.Broken}},
	"lists what was":      {staleListing, map[string]probe.Outcome{"listing": probe.Broken, "read-after-write": probe.OK}},
	"lists without end":   {listsWithoutEnd, map[string]probe.Outcome{"list": probe.Broken, "listing": probe.Broken, "clean-up": probe.Warning, "create-only": probe.OK}},
	"lists one page":      {onePage, map[string]probe.Outcome{"listing": probe.OK, "pages": probe.Broken}},
	"keeps a part":        {truncates, map[string]probe.Outcome{"create-only": probe.OK, "size": probe.Broken}},
	"hides absence":       {hidesAbsence, map[string]probe.Outcome{"absence": probe.Denied}},
	"invents objects":     {inventsObjects, map[string]probe.Outcome{"absence": probe.Broken}},
}

func TestLiars(t *testing.T) {
	t.Parallel()
	for name, test := range lies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report := probe.Run(t.Context(), test.lie(mem.New(t.Name())), all)
			if report.MultiWriter() {
				t.Error("it is accepted for several writers")
			}
			got := outcomes(report)
			for probed, want := range test.want {
				if got[probed] != want {
					t.Errorf("%s: %s; want %s", probed, got[probed], want)
				}
			}
		})
	}
}

// listsWithoutEnd lists what is there again and again.
func listsWithoutEnd(good objstore.Store) liar {
	return liar{Store: good, list: func(ctx context.Context, prefix string) iter.Seq2[objstore.Info, error] {
		return func(yield func(objstore.Info, error) bool) {
			for i := 0; ctx.Err() == nil; i++ {
				if !yield(objstore.Info{Key: prefix + strconv.Itoa(i)}, nil) {
					return
				}
			}
			yield(objstore.Info{}, ctx.Err())
		}
	}}
}

func ignoresAbsence(good objstore.Store) liar { return liar{Store: good, putIfAbsent: good.Put} }

func ignoresVersions(good objstore.Store) liar {
	return liar{Store: good, putIfMatch: func(ctx context.Context, key string, data []byte, _ objstore.Version) (objstore.Version, error) {
		return good.Put(ctx, key, data)
	}}
}

// meeting makes the first two who come to a place wait for each other.
type meeting struct {
	mu     sync.Mutex
	places map[string]*place
}

type place struct {
	came int
	full chan struct{}
}

func (m *meeting) wait(key string) {
	m.mu.Lock()
	if m.places == nil {
		m.places = map[string]*place{}
	}
	here := m.places[key]
	if here == nil {
		here = &place{full: make(chan struct{})}
		m.places[key] = here
	}
	if here.came++; here.came == 2 {
		close(here.full)
	}
	m.mu.Unlock()
	<-here.full
}

// looksThenWrites checks conditions before it writes, and others may write in between.
func looksThenWrites(good objstore.Store) liar {
	var inBetween meeting
	return liar{
		Store: good,
		putIfAbsent: func(ctx context.Context, key string, data []byte) (objstore.Version, error) {
			if _, err := good.Stat(ctx, key); err == nil {
				return "", objstore.ErrExist
			}
			if strings.Contains(key, "create-race") {
				inBetween.wait(key)
			}
			return good.Put(ctx, key, data)
		},
		putIfMatch: func(ctx context.Context, key string, data []byte, version objstore.Version) (objstore.Version, error) {
			if info, err := good.Stat(ctx, key); err != nil || info.Version != version {
				return "", objstore.ErrChanged
			}
			if strings.Contains(key, "swap-race") {
				inBetween.wait(key)
			}
			return good.Put(ctx, key, data)
		},
	}
}

func storesNothing(good objstore.Store) liar {
	return liar{Store: good, put: func(context.Context, string, []byte) (objstore.Version, error) { return "1", nil }}
}

// staleReads shows the content before the last one.
func staleReads(good objstore.Store) liar {
	var mu sync.Mutex
	before := map[string]objstore.Object{}
	return liar{
		Store: good,
		put: func(ctx context.Context, key string, data []byte) (objstore.Version, error) {
			mu.Lock()
			defer mu.Unlock()
			if object, err := good.Get(ctx, key, math.MaxInt64); err == nil {
				before[key] = object
			}
			return good.Put(ctx, key, data)
		},
		get: func(ctx context.Context, key string, limit int64) (objstore.Object, error) {
			mu.Lock()
			defer mu.Unlock()
			if object, ok := before[key]; ok {
				return object, nil
			}
			return good.Get(ctx, key, limit)
		},
	}
}

// staleListing shows what the first listing of a prefix showed.
func staleListing(good objstore.Store) liar {
	var mu sync.Mutex
	shown := map[string][]objstore.Info{}
	return liar{Store: good, list: func(ctx context.Context, prefix string) iter.Seq2[objstore.Info, error] {
		mu.Lock()
		defer mu.Unlock()
		if _, known := shown[prefix]; !known {
			shown[prefix] = []objstore.Info{}
			for info, err := range good.List(ctx, prefix) {
				if err == nil {
					shown[prefix] = append(shown[prefix], info)
				}
			}
		}
		infos := shown[prefix]
		return func(yield func(objstore.Info, error) bool) {
			for _, info := range infos {
				if !yield(info, nil) {
					return
				}
			}
		}
	}}
}

func onePage(good objstore.Store) liar {
	return liar{Store: good, list: func(ctx context.Context, prefix string) iter.Seq2[objstore.Info, error] {
		return func(yield func(objstore.Info, error) bool) {
			count := 0
			for info, err := range good.List(ctx, prefix) {
				if count++; count > 1000 || !yield(info, err) {
					return
				}
			}
		}
	}}
}

func truncates(good objstore.Store) liar {
	return liar{Store: good, put: func(ctx context.Context, key string, data []byte) (objstore.Version, error) {
		return good.Put(ctx, key, data[:min(len(data), 1000)])
	}}
}

func hidesAbsence(good objstore.Store) liar {
	return liar{Store: good, stat: func(ctx context.Context, key string) (objstore.Info, error) {
		info, err := good.Stat(ctx, key)
		if errors.Is(err, objstore.ErrNotExist) {
			err = objstore.ErrDenied
		}
		return info, err
	}}
}

func inventsObjects(good objstore.Store) liar {
	return liar{Store: good, stat: func(context.Context, string) (objstore.Info, error) { return objstore.Info{}, nil }}
}

// TestRights has each right missing in turn: it is told by the vendor's name, and what
// needs it is not tried.
func TestRights(t *testing.T) {
	t.Parallel()
	denied := func(context.Context, string) error { return objstore.ErrDenied }
	tests := map[string]struct {
		deny   func(*liar)
		probe  string
		name   string
		others bool // whether the store may be shared all the same
	}{
		"write": {func(l *liar) {
			l.put = func(context.Context, string, []byte) (objstore.Version, error) { return "", objstore.ErrDenied }
		}, "write", "s3:PutObject", false},
		"read": {func(l *liar) {
			l.get = func(context.Context, string, int64) (objstore.Object, error) {
				return objstore.Object{}, objstore.ErrDenied
			}
		}, "read", "s3:GetObject", false},
		"list": {func(l *liar) {
			l.list = func(context.Context, string) iter.Seq2[objstore.Info, error] {
				return func(yield func(objstore.Info, error) bool) { yield(objstore.Info{}, objstore.ErrDenied) }
			}
		}, "list", "s3:ListBucket", false},
		"delete": {func(l *liar) { l.del = denied }, "delete", "s3:DeleteObject", true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := liar{Store: named{mem.New(t.Name()), "s3://bucket/p"}}
			test.deny(&store)
			report := probe.Run(t.Context(), store, probe.Options{})
			if report.MultiWriter() != test.others {
				t.Errorf("MultiWriter = %t; want %t", report.MultiWriter(), test.others)
			}
			skipped := 0
			for _, result := range report.Results {
				if result.Probe == test.probe && (result.Outcome != probe.Denied || !strings.Contains(result.Detail, test.name)) {
					t.Errorf("%s: %s: %s; want it to name %s", result.Probe, result.Outcome, result.Detail, test.name)
				}
				if result.Outcome == probe.Skipped && strings.Contains(result.Detail, "right to "+name) {
					skipped++
				}
			}
			if skipped == 0 {
				t.Error("what needs the right was tried all the same")
			}
		})
	}
}

// named is a store under another store's URL.
type named struct {
	objstore.Store
	url string
}

func (n named) URL() string { return n.url }

// TestClock: the store's clock and ours differ by minutes, which is told and nothing more.
func TestClock(t *testing.T) {
	t.Parallel()
	for name, shift := range map[string]time.Duration{"behind": 5 * time.Minute, "ahead": -5 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report := probe.Run(t.Context(), mem.New(t.Name()), probe.Options{Now: func() time.Time { return time.Now().Add(shift) }})
			if !report.MultiWriter() || outcomes(report)["clock"] != probe.Warning {
				t.Errorf("clock: %s, MultiWriter %t", outcomes(report)["clock"], report.MultiWriter())
			}
			if off := report.Skew + shift; off.Abs() > 30*time.Second {
				t.Errorf("skew = %s; want about %s", report.Skew, -shift)
			}
		})
	}
}

// TestAway: a store that gives no answer is no store to share.
func TestAway(t *testing.T) {
	t.Parallel()
	report := probe.Run(t.Context(), objstoretest.NewFaulty(mem.New(t.Name()), 0), probe.Options{})
	if got := outcomes(report); report.MultiWriter() || got["write"] != probe.Failed || got["pages"] != probe.Skipped || got["size"] != probe.Skipped {
		t.Errorf("MultiWriter %t, %v", report.MultiWriter(), got)
	}
}

func TestHonours(t *testing.T) {
	t.Parallel()
	good := mem.New(t.Name())
	if _, err := good.Put(t.Context(), "claim", []byte("mine")); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		store objstore.Store
		want  error
	}{
		"honours":        {good, nil},
		"ignores":        {ignoresAbsence(good), probe.ErrIgnoresConditions},
		"stores nothing": {liar{Store: good, putIfAbsent: storesNothing(good).put}, probe.ErrIgnoresConditions},
		"away":           {objstoretest.NewFaulty(good, 0), objstore.ErrUnavailable},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := probe.Honours(t.Context(), test.store, "claim", []byte("mine")); !errors.Is(err, test.want) {
				t.Errorf("Honours: %v; want %v", err, test.want)
			}
			if got, err := good.Get(t.Context(), "claim", 10); err != nil || string(got.Data) != "mine" {
				t.Errorf("the object is now %q, %v", got.Data, err)
			}
		})
	}
}

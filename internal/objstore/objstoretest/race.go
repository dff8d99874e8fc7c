package objstoretest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/objstore/open"
)

// racerEnv makes the test binary a racer; it holds the URL of the store.
const racerEnv = "TOWLINE_OBJSTORETEST_RACER"

// The size of a race: enough for every pair of writers to meet many times.
const (
	racers    = 4
	createRun = 25
	countRun  = 15
)

// Main runs a package's tests, or one racer if the suite started this process.
// Its result is the exit status.
func Main(m *testing.M) int {
	storeURL := os.Getenv(racerEnv)
	if storeURL == "" {
		return m.Run()
	}
	if err := runRacer(context.Background(), storeURL, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// runRacer waits for its name on in, races, and prints how many creations it won.
func runRacer(ctx context.Context, storeURL string, in io.Reader, out io.Writer) error {
	store, err := open.Open(ctx, storeURL)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "ready")
	var name string
	if _, err := fmt.Fscanln(in, &name); err != nil {
		return err
	}
	won, err := race(ctx, store, name)
	if err == nil {
		fmt.Fprintln(out, won)
	}
	return err
}

// race creates the objects that all racers try to create and raises the counter
// that all raise. It returns how many objects this racer created.
func race(ctx context.Context, store objstore.Store, name string) (won int, err error) {
	for i := range createRun {
		_, err := store.PutIfAbsent(ctx, fmt.Sprintf("created/%03d", i), []byte(name))
		switch {
		case err == nil:
			won++
		case !errors.Is(err, objstore.ErrExist):
			return won, err
		}
	}
	for range countRun {
		if err := increment(ctx, store, "counter"); err != nil {
			return won, err
		}
	}
	return won, nil
}

func increment(ctx context.Context, store objstore.Store, key string) error {
	for {
		object, err := store.Get(ctx, key, 100)
		if err != nil {
			return err
		}
		count, err := strconv.Atoi(string(object.Data))
		if err != nil {
			return err
		}
		_, err = store.PutIfMatch(ctx, key, []byte(strconv.Itoa(count+1)), object.Version)
		if !errors.Is(err, objstore.ErrChanged) {
			return err
		}
	}
}

// checkRace checks that every object was created once and no increment was lost.
func checkRace(t *testing.T, store objstore.Store, won int) {
	t.Helper()
	if won != createRun {
		t.Errorf("%d creations succeeded for %d keys", won, createRun)
	}
	wantContent(t, store, "counter", strconv.Itoa(racers*countRun))
}

func testRaces(t *testing.T, store objstore.Store) {
	must(store.Put(t.Context(), "counter", []byte("0")))(t)
	var mu sync.Mutex
	total := 0
	forEach(t, racers, racers, func(i int) error {
		won, err := race(t.Context(), store, "goroutine-"+strconv.Itoa(i))
		mu.Lock()
		defer mu.Unlock()
		total += won
		return err
	})
	checkRace(t, store, total)
}

func testRacingProcesses(t *testing.T, store objstore.Store) {
	must(store.Put(t.Context(), "counter", []byte("0")))(t)
	processes := make([]*racer, racers)
	for i := range processes {
		processes[i] = startRacer(t, store.URL())
	}
	for i, process := range processes {
		fmt.Fprintf(process.in, "process-%d\n", i)
	}
	total := 0
	for _, process := range processes {
		total += process.wait(t)
	}
	checkRace(t, store, total)
}

type racer struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     io.ReadCloser
	stderr  strings.Builder
}

// startRacer starts this test binary as a racer and waits until it is ready.
func startRacer(t *testing.T, storeURL string) *racer {
	t.Helper()
	r := &racer{command: exec.CommandContext(t.Context(), must(os.Executable())(t))}
	r.command.Env = append(os.Environ(), racerEnv+"="+storeURL)
	r.command.Stderr = &r.stderr
	r.in = must(r.command.StdinPipe())(t)
	r.out = must(r.command.StdoutPipe())(t)
	if err := r.command.Start(); err != nil {
		t.Fatal(err)
	}
	var word string
	if _, err := fmt.Fscanln(r.out, &word); err != nil || word != "ready" {
		t.Fatalf("a racing process said %q, %v: %s", word, err, r.stderr.String())
	}
	return r
}

func (r *racer) wait(t *testing.T) (won int) {
	t.Helper()
	_, scanErr := fmt.Fscanln(r.out, &won)
	if err := errors.Join(scanErr, r.command.Wait()); err != nil {
		t.Errorf("a racing process failed: %v: %s", err, r.stderr.String())
	}
	return won
}

// testWholeReads reads an object while it is overwritten with contents of several
// sizes; a reader must see one of them whole.
func testWholeReads(t *testing.T, store objstore.Store) {
	const rounds = 30
	content := func(i int) string { return strings.Repeat(strconv.Itoa(i%10), 1+(i%7)*20_000) }
	must(store.Put(t.Context(), "x", []byte(content(0))))(t)
	forEach(t, 4, 4, func(worker int) error {
		for i := range rounds {
			if worker == 0 {
				if _, err := store.Put(t.Context(), "x", []byte(content(i))); err != nil {
					return err
				}
				continue
			}
			object, err := store.Get(t.Context(), "x", 1<<20)
			if err != nil {
				return err
			}
			if !whole(object.Data, rounds, content) {
				return fmt.Errorf("read %d bytes that nobody wrote", len(object.Data))
			}
		}
		return nil
	})
}

func whole(data []byte, rounds int, content func(int) string) bool {
	for i := range rounds {
		if string(data) == content(i) {
			return true
		}
	}
	return false
}

// forEach calls do for 0..count-1 from a few goroutines and reports errors.
func forEach(t *testing.T, workers, count int, do func(int) error) {
	t.Helper()
	next := make(chan int)
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for i := range next {
				if err := do(i); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range count {
		next <- i
	}
	close(next)
	group.Wait()
}

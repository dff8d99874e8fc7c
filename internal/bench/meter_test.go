package bench

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// useVariable makes this binary a program that uses so many megabytes, and fails
// if it is told to.
const useVariable = "TOWLINE_BENCH_TEST_USE"

// TestMain makes the test binary its own meter and what it measures.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == MeterVerb {
		if err := Meter(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if megabytes, err := strconv.Atoi(os.Getenv(useVariable)); err == nil {
		use(megabytes)
		fmt.Println("used it")
		os.Exit(3)
	}
	os.Exit(m.Run())
}

// use touches memory, so that it is resident.
func use(megabytes int) {
	block := make([]byte, megabytes<<20)
	for i := 0; i < len(block); i += 4096 {
		block[i] = 1
	}
	runtime.KeepAlive(block)
}

func TestMeasure(t *testing.T) {
	t.Parallel()
	use(400) // whoever measures is large
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		megabytes   int
		least, most float64
	}{
		"a small program": {1, 1e6, 200e6},
		"a large program": {300, 300e6, 900e6}, // the race detector uses as much again
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := command{dir: t.TempDir(), env: append(os.Environ(), useVariable+"="+strconv.Itoa(test.megabytes)), want: 3}
			// The meter itself must not take the variable for its own.
			c.args = []string{"env", c.env[len(c.env)-1], self}
			c.env = os.Environ()
			u, err := measure(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if u.Peak < test.least || u.Peak > test.most {
				t.Errorf("%d MB were used, and %.0f bytes measured", test.megabytes, u.Peak)
			}
			if u.Wall <= 0 || u.Wall > time.Minute || u.CPU <= 0 {
				t.Errorf("it took %s, and %s of CPU", u.Wall, u.CPU)
			}
		})
	}
}

func TestMeasureRefusesOtherWork(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		args []string
		says string
	}{
		"another exit status": {[]string{"sh", "-c", "echo it went wrong >&2; exit 2"}, "it went wrong"},
		"no such program":     {[]string{"no-such-program-anywhere"}, "no-such-program-anywhere"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := measure(t.Context(), command{dir: t.TempDir(), env: os.Environ(), args: test.args})
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got error %v, want one with %q", err, test.says)
			}
		})
	}
}

func TestMeasureEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := withDeadline(t, 100*time.Millisecond)
	defer cancel()
	begin := time.Now()
	_, err := measure(ctx, command{dir: t.TempDir(), env: os.Environ(), args: []string{"sleep", "600"}})
	if !errors.Is(err, ctx.Err()) || err == nil {
		t.Errorf("got error %v, want the context's", err)
	}
	if took := time.Since(begin); took > time.Minute {
		t.Errorf("it ended after %s", took)
	}
}

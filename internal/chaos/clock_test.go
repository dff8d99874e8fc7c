package chaos

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// program says for each line that it reads what its two clocks show.
const program = `package main

import (
	"os"
	"strconv"
	"time"
)

func main() {
	started, line := time.Now(), make([]byte, 1)
	for {
		if n, err := os.Stdin.Read(line); n == 0 || err != nil {
			return
		}
		now := time.Now()
		os.Stdout.WriteString(strconv.FormatInt(now.Unix(), 10) + " " + strconv.FormatInt(int64(now.Sub(started)), 10) + "\n")
	}
}
`

// TestClockIsTurned turns the clock of a program that runs: its wall clock follows, and
// what it measures does not.
func TestClockIsTurned(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	overlay, err := turnable(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"main.go": program, "go.mod": "module shows\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.CommandContext(t.Context(), "go", "build", overlay, "-o", "shows", "main.go")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c, err := newClock(filepath.Join(dir, "clock"))
	if err != nil {
		t.Fatal(err)
	}
	show := exec.CommandContext(t.Context(), filepath.Join(dir, "shows"))
	show.Env = []string{clockVariable + "=" + c.file.Name()}
	in, _ := show.StdinPipe()
	out, _ := show.StdoutPipe()
	if err := show.Start(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for _, off := range []time.Duration{0, 3 * time.Hour, -2 * time.Minute, 0} {
		c.turn(off, 0)
		if _, err := in.Write([]byte{'\n'}); err != nil {
			t.Fatal(err)
		}
		line := make([]byte, 100)
		n, err := out.Read(line)
		if err != nil {
			t.Fatal(err)
		}
		fields := strings.Fields(string(line[:n]))
		shown, _ := strconv.ParseInt(fields[0], 10, 64)
		passed, _ := strconv.ParseInt(fields[1], 10, 64)
		if got := time.Until(time.Unix(shown, 0)); (got - off).Abs() > 2*time.Second {
			t.Errorf("turned by %s, the clock is off by %s", off, got)
		}
		if at := c.when(time.Unix(shown, 0)); time.Since(at).Abs() > 2*time.Second {
			t.Errorf("turned by %s, the harness takes what is shown for %s ago", off, time.Since(at))
		}
		if most := time.Since(began) + 5*time.Second; passed < 0 || time.Duration(passed) > most {
			t.Errorf("turned by %s, the program has measured %s of %s", off, time.Duration(passed), most)
		}
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := show.Wait(); err != nil {
		t.Error(err)
	}
}

// TestOtherSourceOfTimeIsRefused: a version of Go that reads its clock in another way is
// not taken for one whose clock can be turned.
func TestOtherSourceOfTimeIsRefused(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]string{"nowhere": "package time\n", "twice": reading + "}\n" + reading + "}\n"} {
		if _, err := replaceReading(source); err == nil || !strings.Contains(err.Error(), "adapt it to this version of Go") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestClockGoesRightAgain after as many faults as it was to be off.
func TestClockGoesRightAgain(t *testing.T) {
	t.Parallel()
	c, err := newClock(filepath.Join(t.TempDir(), "clock"))
	if err != nil {
		t.Fatal(err)
	}
	var got []time.Duration
	c.turn(time.Hour, 2)
	for range 3 {
		if err := c.pass(); err != nil {
			t.Fatal(err)
		}
		got = append(got, c.off())
	}
	if want := []time.Duration{time.Hour, 0, 0}; got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("off by %v, want %v", got, want)
	}
	if at := c.when(time.Now().Add(10 * time.Hour)); !at.IsZero() {
		t.Errorf("a time that the clock never showed was %s", at)
	}
	if err := c.close(); err != nil {
		t.Fatal(err)
	}
	c.turn(time.Hour, 1)
	if err := c.pass(); err == nil {
		t.Error("a clock that cannot be turned is taken for one that was")
	}
}

// TestSilenceAboutSkewIsFound: only the newest word of the log counts, and only by how much.
func TestSilenceAboutSkewIsFound(t *testing.T) {
	t.Parallel()
	const line = "level=WARN msg=\"this machine's clock differs from the store's; set it by NTP\" ahead="
	for name, test := range map[string]struct {
		log  string
		said bool
	}{
		"nothing":  {"level=INFO msg=round\n", false},
		"said":     {line + "1h0m1s\nlevel=INFO msg=round\n", true},
		"behind":   {line + "-1h0m0s\n", false},
		"outdated": {line + "1h0m0s\n" + line + "2h0m0s\n", false},
	} {
		if got := saidSkew(test.log, time.Hour); got != test.said {
			t.Errorf("%s: %t", name, got)
		}
	}
}

package thirtydays

import (
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// expected computes a pull row from the model alone, to compare with what agents
// and cloud say. It decides nothing in a replay.
func expected(period int) Row {
	row := Row{Arrangement: Arrangement{Period: period}, Live: 1 + float64(period)/2}
	total := 0
	for _, c := range generate() {
		round := (c.minute/period + 1) * period
		switch {
		case c.class != outOfScope && round <= Minutes && (c.lifespan == 0 || round <= c.minute+c.lifespan):
			row.Closed++
			total += round - c.minute
			if c.class == notWritten {
				row.NeverWritten++
			}
			if c.genuine {
				row.WronglyReverted++
			}
		case c.lifespan > 0:
			row.Unseen++
		default:
			row.Left++
			if c.class == outOfScope {
				row.Missed++
			}
		}
	}
	row.MeanDelay = float64(total) / float64(row.Closed)
	return row
}

// TestModel compares the model's changes with what was published of them.
func TestModel(t *testing.T) {
	t.Parallel()
	classes, genuine := map[class]int{}, 0
	for _, c := range generate() {
		classes[c.class]++
		if c.genuine {
			genuine++
		}
	}
	if got, want := fmt.Sprint(classes[written], classes[notWritten], classes[outOfScope], genuine), "32 17 11 10"; got != want {
		t.Errorf("written, not written, out of scope and genuine: %s, published %s", got, want)
	}
	for period := range published {
		if period == 0 {
			continue // the pipeline's follows from no formula
		}
		if err := expected(period).Compare(); err != nil {
			t.Error(err)
		}
	}
}

func options(t *testing.T) Options {
	t.Helper()
	return Options{Config: filepath.Join("..", "..", "examples", "thirty-days"), Dir: t.TempDir()}
}

func replayed(t *testing.T, opts Options, a Arrangement) Row {
	t.Helper()
	began := time.Now()
	row, err := Replay(t.Context(), opts, a)
	if err != nil {
		t.Fatalf("%s: %v", a.Name(), err)
	}
	t.Logf("%s took %s: %+v", a.Name(), time.Since(began).Round(time.Second), row)
	return row
}

// TestPullRow replays with real agents and the provider as a program, and compares with the
// published row. The periods that take longer, and which show no more, are for make thirty-days.
func TestPullRow(t *testing.T) {
	t.Parallel()
	const period = 240
	opts := options(t)
	opts.Plugin = filepath.Join(t.TempDir(), "terraform-provider-simcloud")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", opts.Plugin, "../simcloud/cmd/terraform-provider-simcloud").CombinedOutput(); err != nil {
		t.Fatalf("build the provider: %v\n%s", err, out)
	}
	got := replayed(t, opts, Arrangement{Period: period})
	if err := got.Compare(); err != nil {
		t.Error(err)
	}
	if want := expected(period); math.Abs(got.Live-want.Live) > 1e-9 {
		t.Errorf("commit to live %v; published %v", got.Live, want.Live)
	}
	if got.Outage.Rounds != (outageUntil-outageFrom)/period {
		t.Errorf("%d rounds in the outage", got.Outage.Rounds)
	}
	want := []Authority{{"agent-dev", 1, 24, 0}, {"agent-staging", 1, 24, 0}, {"agent-prod", 1, 24, 0}}
	if !slices.Equal(got.Authority, want) {
		t.Errorf("authority %+v, want %+v", got.Authority, want)
	}
}

// TestOtherRowIsRefused: make thirty-days fails where a row is not as published.
func TestOtherRowIsRefused(t *testing.T) {
	t.Parallel()
	row := expected(60)
	if err := row.Compare(); err != nil {
		t.Error(err)
	}
	row.Closed++
	if err := row.Compare(); err == nil || !strings.Contains(err.Error(), "42 14 30 12 6 8 6 was published") {
		t.Errorf("another row: %v", err)
	}
	row.Arrangement.Means = true
	if err := row.Compare(); err != nil {
		t.Error(err)
	}
}

func TestPushRow(t *testing.T) {
	t.Parallel()
	got := replayed(t, options(t), Arrangement{})
	if err := got.Compare(); err != nil {
		t.Error(err)
	}
	if want := (Outage{Missed: 5, Open: 11}); got.Outage != want {
		t.Errorf("outage %+v, published %+v", got.Outage, want)
	}
	if want := []Authority{{Writer: "pipeline", Entries: 3, Objects: 72, Exposed: 3}}; !slices.Equal(got.Authority, want) {
		t.Errorf("authority %+v, want %+v", got.Authority, want)
	}
}

// TestTowlinesMeans: nothing is lost of what the model counts as lost.
func TestTowlinesMeans(t *testing.T) {
	t.Parallel()
	got := replayed(t, options(t), Arrangement{Period: 240, Means: true})
	if got.Unseen != 0 || got.Missed != 0 || got.WronglyReverted != 0 || got.Live >= 1 {
		t.Errorf("got %+v", got)
	}
	closed := 0
	for _, c := range generate() {
		if c.class != outOfScope && !c.genuine && !held(c) {
			closed++
		}
	}
	if got.Closed != closed || got.Reported != 11 {
		t.Errorf("%d closed and %d reported, want the %d in scope that neither mend anything nor meet what is held, and the 11 of objects that nobody manages", got.Closed, got.Reported, closed)
	}
}

// held tells whether a change meets an attribute that is left alone since an emergency
// was mended there.
func held(c change) bool {
	for _, fix := range generate() {
		same := fix.genuine && fix.class == c.class && fix.ref() == c.ref() && fix.target().path == c.target().path && fix.minute < c.minute
		if same && (fix.lifespan == 0 || c.minute < fix.minute+int(grantFor.Minutes())) {
			return true
		}
	}
	return false
}

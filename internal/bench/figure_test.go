package bench

import (
	"context"
	"strings"
	"testing"
	"time"
)

func withDeadline(t *testing.T, d time.Duration) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithTimeout(t.Context(), d)
}

func TestMedian(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		sample Sample
		want   float64
	}{
		"none":              {nil, 0},
		"one":               {Sample{4}, 4},
		"odd, not in order": {Sample{9, 1, 5}, 5},
		"even":              {Sample{8, 2, 4, 100}, 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := test.sample.Median(); got != test.want {
				t.Errorf("got %g, want %g", got, test.want)
			}
		})
	}
}

func TestTargets(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reference, towline float64
		target             Target
		want               bool
	}{
		"fast enough":           {30, 2, Faster(15), true},
		"not fast enough":       {30, 2.1, Faster(15), false},
		"a small enough share":  {10, 5, Share(0.5), true},
		"too large a share":     {10, 5.1, Share(0.5), false},
		"within a factor":       {10, 12, Share(1.2), true},
		"below the bound":       {0, 0.9, Below(1), true},
		"above the bound":       {0, 1.1, Below(1), false},
		"nothing asked":         {1, 1000, Target{}, true},
		"nothing was measured":  {0, 0, Faster(2), false},
		"no reference measured": {0, 3, Faster(2), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := Figure{Row: 3, Work: "some work", Target: test.target, Towline: Sample{test.towline}, Reference: Sample{test.reference}}
			if got := f.Met(); got != test.want {
				t.Errorf("met: %t, want %t", got, test.want)
			}
			err := Missed([]Figure{f})
			if (err == nil) != test.want || (err != nil && !strings.Contains(err.Error(), "row 3, some work")) {
				t.Errorf("got error %v", err)
			}
		})
	}
}

func TestWriteTable(t *testing.T) {
	t.Parallel()
	figures := []Figure{
		{Row: 1, Work: "plan", Against: "terraform", Reference: Sample{30, 31, 29}, Towline: Sample{1.5}, Target: Faster(15)},
		{Row: 4, Work: "memory", Unit: Bytes, Against: "terraform", Reference: Sample{100e6}, Towline: Sample{60e6}, Target: Share(0.5)},
		{Row: 9, Work: "rest", Unit: Percent, Towline: Sample{0.25}, Target: Below(1)},
	}
	for name, test := range map[string]struct {
		judge bool
		want  string
	}{
		"judged": {true, `| row | work | against | reference | towline | ratio | target | verdict |
| --- | --- | --- | --- | --- | --- | --- | --- |
| 1 | plan | terraform | 30.0 s | 1.50 s | 20.0 x | ≥ 15 x | met |
| 4 | memory | terraform | 100 MB | 60 MB | 0.60 | ≤ 0.5 | missed |
| 9 | rest |  |  | 0.25 % |  | < 1.00 % | met |
`},
		"not judged": {false, `| row | work | against | reference | towline | ratio | target | verdict |
| --- | --- | --- | --- | --- | --- | --- | --- |
| 1 | plan | terraform | 30.0 s | 1.50 s | 20.0 x | ≥ 15 x |  |
| 4 | memory | terraform | 100 MB | 60 MB | 0.60 | ≤ 0.5 |  |
| 9 | rest |  |  | 0.25 % |  | < 1.00 % |  |
`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			if err := WriteTable(&out, figures, test.judge); err != nil {
				t.Fatal(err)
			}
			if out.String() != test.want {
				t.Errorf("got\n%s\nwant\n%s", out.String(), test.want)
			}
		})
	}
}

// failing refuses what is written to it.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, context.Canceled }

func TestWriteTableFails(t *testing.T) {
	t.Parallel()
	if err := WriteTable(failing{}, nil, true); err == nil {
		t.Error("what could not be written was no error")
	}
}

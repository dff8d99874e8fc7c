package agent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/towline/terraform-provider-towline/internal/control"
)

// measured reads the metrics file as Prometheus does: name and labels to value.
func (w *world) measured() map[string]float64 {
	w.t.Helper()
	file, err := os.Open(w.metrics)
	if err != nil {
		w.t.Fatal(err)
	}
	defer file.Close()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(file)
	if err != nil {
		w.t.Fatal(err)
	}
	out := map[string]float64{}
	for name, family := range families {
		for _, metric := range family.GetMetric() {
			var labels []string
			for _, label := range metric.GetLabel() {
				labels = append(labels, label.GetName()+"="+label.GetValue())
			}
			out[fmt.Sprintf("%s%v", name, labels)] = metric.GetGauge().GetValue() + metric.GetCounter().GetValue()
		}
	}
	return out
}

// Every round replaces a file that others may read, with the grants in force, their age
// and end, and what waits for approval.
func TestMetrics(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.metrics = filepath.Join(t.TempDir(), "towline.prom")
	signer, key := approver(t)
	policy := w.policy(key, control.AfterRevert)
	_, second := approver(t)
	policy.Approvers = append(policy.Approvers, second)
	w.made(policy)
	first := w.clock()
	w.open(signer, "cloud_thing.a")
	opened := w.clock()
	w.resize("a", 9)
	w.round(control.OutcomeDrifted)
	got := w.measured()
	unix := func(t time.Time) float64 { return float64(t.Unix()) }
	for name, want := range map[string]float64{
		"towline_rounds_total[outcome=applied]":                                   1,
		"towline_rounds_total[outcome=drifted]":                                   1,
		"towline_objects[]":                                                       2,
		"towline_drift_attributes[]":                                              1,
		"towline_round_interval_seconds[]":                                        60,
		"towline_last_round_timestamp_seconds[]":                                  unix(w.clock()),
		"towline_last_verified_timestamp_seconds[]":                               unix(w.clock()),
		"towline_last_success_timestamp_seconds[]":                                unix(first),
		"towline_break_glass_grants[phase=open]":                                  1,
		"towline_break_glass_grants[phase=pending]":                               0,
		"towline_break_glass_grant_opened_timestamp_seconds[grant=g1 policy=fix]": unix(opened),
		"towline_break_glass_grant_ends_timestamp_seconds[grant=g1 policy=fix]":   unix(opened.Add(10 * time.Minute)),
		"towline_break_glass_approvals_missing[]":                                 0,
		"towline_plans_pending[]":                                                 0,
	} {
		if value, ok := got[name]; !ok || value != want {
			t.Errorf("%s is %v, want %v", name, value, want)
		}
	}
	info, err := os.Stat(w.metrics)
	if err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("the file has %v, %v", info.Mode(), err)
	}

	policy.Approvals = 2
	w.declare(policy)
	w.store.set(false)
	w.round(control.OutcomeApplied)
	w.store.set(true)
	w.advance(time.Minute)
	w.agent.Round(t.Context())
	got = w.measured()
	if got["towline_break_glass_grants[phase=pending]"] != 1 || got["towline_break_glass_approvals_missing[]"] != 1 || got["towline_break_glass_grants[phase=open]"] != 0 {
		t.Errorf("with an approval missing: %v", got)
	}
	if _, there := got["towline_break_glass_grant_opened_timestamp_seconds[grant=g1 policy=fix]"]; there {
		t.Error("a grant that is not open any more has an age")
	}
	if verified := got["towline_last_verified_timestamp_seconds[]"]; verified != unix(w.clock().Add(-time.Minute)) {
		t.Errorf("without the store it was verified at %v", verified)
	}
}

// A plan that waits is counted, with the approvals that it needs.
func TestMetricsOfPlansThatWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.metrics = filepath.Join(t.TempDir(), "towline.prom")
	_, ana := approver(t)
	_, ben := approver(t)
	w.proposable(2, ana, ben)
	w.round(control.OutcomeDrifted)
	if got := w.measured(); got["towline_plans_pending[]"] != 1 || got["towline_plan_approvals_missing[]"] != 2 {
		t.Errorf("measured %v", got)
	}
}

// A file that cannot be written stops no round.
func TestMetricsThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.metrics = filepath.Join(t.TempDir(), "gone", "towline.prom")
	w.publish(twoThings)
	w.round(control.OutcomeApplied)
}

// The page about metrics has each, and no other.
func TestMetricsAreDocumented(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.metrics = filepath.Join(t.TempDir(), "towline.prom")
	signer, key := approver(t)
	w.declare(w.policy(key, control.AfterRevert))
	w.publish(twoThings)
	w.open(signer, "cloud_thing.a")
	w.advance(time.Minute)
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	w.agent.Round(t.Context())
	page, err := os.ReadFile("../docs/internals/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{}
	for _, match := range regexp.MustCompile("(?m)^\\| `(towline_[a-z_]+)").FindAllStringSubmatch(string(page), -1) {
		told[match[1]] = true
	}
	measured := map[string]bool{}
	for name := range w.measured() {
		name, _, _ = strings.Cut(name, "[")
		if measured[name] = true; !told[name] {
			t.Errorf("%s is not on the page", name)
		}
	}
	for name := range told {
		if !measured[name] {
			t.Errorf("the page tells of %s, which there is not", name)
		}
	}
}

package agent

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/guard"
)

// metrics are what the node exporter's textfile collector reads of an agent, which
// itself accepts no connection. Times are points in time and no ages, so that they
// tell the truth also of an agent that has ended.
type metrics struct {
	registry *prometheus.Registry
	rounds   *prometheus.CounterVec

	info, grants, grantOpened, grantEnds                 *prometheus.GaugeVec
	lastRound, duration, lastSuccess, verified, interval prometheus.Gauge
	objects, drift, proposals, missing, grantsMissing    prometheus.Gauge
}

func newMetrics() *metrics {
	m := &metrics{registry: prometheus.NewRegistry()}
	gauge := func(name, help string) prometheus.Gauge {
		g := prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "towline", Name: name, Help: help})
		m.registry.MustRegister(g)
		return g
	}
	vector := func(name, help string, labels ...string) *prometheus.GaugeVec {
		g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "towline", Name: name, Help: help}, labels)
		m.registry.MustRegister(g)
		return g
	}
	m.rounds = prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "towline", Name: "rounds_total", Help: "Rounds since the agent was started, by outcome."}, []string{"outcome"})
	m.registry.MustRegister(m.rounds)
	m.info = vector("agent_info", "The agent, and the revision in force; always 1.", "environment", "agent", "version", "revision")
	m.interval = gauge("round_interval_seconds", "Time between rounds, before jitter.")
	m.lastRound = gauge("last_round_timestamp_seconds", "When the last round ended.")
	m.duration = gauge("last_round_duration_seconds", "How long the last round took.")
	m.lastSuccess = gauge("last_success_timestamp_seconds", "When a round last ended with real objects equal to the revision; 0 if none has.")
	m.verified = gauge("last_verified_timestamp_seconds", "When the repository was last read and verified; 0 if it was not since the agent was started.")
	m.objects = gauge("objects", "Objects that the agent manages.")
	m.drift = gauge("drift_attributes", "Attributes and deleted objects whose drift stands.")
	m.proposals = gauge("plans_pending", "Plans that wait for approval.")
	m.missing = gauge("plan_approvals_missing", "Approvals that such a plan still needs.")
	m.grants = vector("break_glass_grants", "Break-glass grants that are open, or wait for approval.", "phase")
	m.grantsMissing = gauge("break_glass_approvals_missing", "Approvals that grants which wait still need.")
	m.grantOpened = vector("break_glass_grant_opened_timestamp_seconds", "When an open grant was opened.", "grant", "policy")
	m.grantEnds = vector("break_glass_grant_ends_timestamp_seconds", "When an open grant ends.", "grant", "policy")
	return m
}

// measure writes the metrics of a round, if the configuration names a file. It replaces
// the file as a whole.
func (r *round) measure() error {
	a := r.agent
	now := a.now()
	m := a.metrics
	m.rounds.WithLabelValues(string(r.outcome)).Inc()
	m.info.Reset()
	m.info.WithLabelValues(a.config.Environment, a.config.Agent, Version, short(a.memory.Begun)).Set(1)
	m.interval.Set(a.interval.Seconds())
	m.lastRound.Set(seconds(now))
	m.duration.Set(now.Sub(r.started).Seconds())
	m.lastSuccess.Set(seconds(a.memory.Converged))
	if r.fresh {
		m.verified.Set(seconds(now))
	}
	m.objects.Set(float64(a.state.Count()))
	m.drift.Set(float64(r.standing()))
	m.measureProposals(r.proposals)
	m.measureGrants(r.grants, r.waiting)
	if a.config.MetricsFile == "" {
		return nil
	}
	return prometheus.WriteToTextfile(a.config.MetricsFile, m.registry)
}

func (m *metrics) measureProposals(proposals []control.ProposalUse) {
	pending, missing := 0, 0
	for _, p := range proposals {
		if p.Phase == control.ProposalPending {
			pending++
			missing += p.Missing
		}
	}
	m.proposals.Set(float64(pending))
	m.missing.Set(float64(missing))
}

// measureGrants tells of the grants in force and of those that wait.
func (m *metrics) measureGrants(open []guard.OpenGrant, waiting []control.Grant) {
	m.grantOpened.Reset()
	m.grantEnds.Reset()
	for _, g := range open {
		m.grantOpened.WithLabelValues(g.ID, g.Policy).Set(seconds(g.Opened))
		m.grantEnds.WithLabelValues(g.ID, g.Policy).Set(seconds(g.Until))
	}
	missing := 0
	for _, g := range waiting {
		missing += g.Missing
	}
	m.grants.WithLabelValues(string(control.GrantOpen)).Set(float64(len(open)))
	m.grants.WithLabelValues(string(control.GrantPending)).Set(float64(len(waiting)))
	m.grantsMissing.Set(float64(missing))
}

// seconds is a time as Prometheus has it, 0 for none.
func seconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}

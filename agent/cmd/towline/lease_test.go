package main

import (
	"testing"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/lease"
	"github.com/towline/terraform-provider-towline/internal/repository"
)

// TestStatusNamesTheHolder has two agents of one environment: one works, the other follows.
func TestStatusNamesTheHolder(t *testing.T) {
	t.Parallel()
	now := time.Now()
	holder := lease.Record{Epoch: 3, Holder: "db/0123456789abcdef"}
	beat := func(outcome control.Outcome, reported time.Duration) *control.Heartbeat {
		return &control.Heartbeat{Time: now, Round: now.Add(-reported), NextRound: now.Add(time.Minute - reported), Outcome: outcome, Channel: "stable", Revision: "r"}
	}
	for name, test := range map[string]struct {
		agent         string
		beat          *control.Heartbeat
		status, lease string
	}{
		"the holder":                        {"db", beat(control.OutcomeConverged, 0), statusLive, "epoch 3"},
		"the follower":                      {"web", beat(control.OutcomeStandby, 0), statusStandby, "db, epoch 3"},
		"a holder whose round does not end": {"db", beat(control.OutcomeConverged, 4*time.Minute), statusUnknown, "epoch 3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &member{declared: control.Agent{Environment: "prod", Name: test.agent, Channel: "stable", PollInterval: control.Duration(time.Minute)},
				published: "r", reports: &repository.Reports{}, beat: test.beat, holder: holder}
			if got := m.status(now); got.Status != test.status || got.lease() != test.lease || got.Holder != "db" || got.Epoch != 3 {
				t.Errorf("status %q, lease %q of %s (%d); want %q and %q", got.Status, got.lease(), got.Holder, got.Epoch, test.status, test.lease)
			}
		})
	}
}

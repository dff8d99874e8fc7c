package main

import (
	"strings"
	"testing"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore/mem"
	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// TestAttackHeartbeatReplayed puts an agent's earlier good word in the place of its
// latest, a bad one. It has its age, and past it nothing is known of the agent.
func TestAttackHeartbeatReplayed(t *testing.T) {
	t.Parallel()
	store := mem.New(t.Name())
	newKey := func() trust.Key {
		key, err := trust.GenerateKey()
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	owner, token, machine := newKey(), newKey(), newKey()
	r, err := repository.Init(t.Context(), store, repository.SingleKey(owner.Public(), []string{"prod"}, []string{"stable"}), trust.Signing{Keys: trust.Keyring{owner}, Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC().Truncate(time.Second)
	declared := control.Agent{Version: control.FormatVersion, Environment: "prod", Name: "web", Channel: "stable", Scopes: []string{"all"},
		PollInterval: control.Duration(time.Minute), Join: control.Join{Generation: 1, PublicKey: token.Public().String(), Expires: now.Add(time.Hour)}}
	put := func(key string, data []byte, err error) {
		t.Helper()
		if err == nil {
			_, err = store.Put(t.Context(), key, data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	claim, err := control.SignClaim(control.Claim{Version: control.FormatVersion, Environment: "prod", Agent: "web", Generation: 1, AgentKey: machine.Public().String(), Time: now}, token.Ed25519(), machine.Ed25519())
	put(control.ClaimKey("prod", "web", 1), claim, err)
	say := func(at time.Time, outcome control.Outcome) ([]byte, error) {
		return control.Sign(control.Heartbeat{Version: control.FormatVersion, Environment: "prod", Agent: "web", Time: at, Channel: "stable", Outcome: outcome, NextRound: at.Add(time.Minute)}, machine.Ed25519())
	}
	good, err := say(now, control.OutcomeConverged)
	put(control.HeartbeatKey("prod", "web"), good, err)
	bad, err := say(now.Add(time.Minute), control.OutcomeRefused)
	put(control.HeartbeatKey("prod", "web"), bad, err)
	status := func(at time.Time) statusResult {
		m := &member{declared: declared}
		if err := m.listen(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		return m.status(at)
	}
	if got := status(now.Add(time.Minute)); got.Status != statusRefused {
		t.Errorf("before the attack the status is %+v; want %s", got, statusRefused)
	}
	put(control.HeartbeatKey("prod", "web"), good, nil)
	if got := status(now.Add(2 * time.Minute)); got.proof == nil || got.AgeSeconds != 120 {
		t.Errorf("the replayed word does not show its age: %+v", got)
	}
	if got := status(now.Add(4 * time.Minute)); got.Status != statusUnknown || !strings.Contains(got.Message, "silent for 4m") {
		t.Errorf("past its age the status is %+v; want %s", got, statusUnknown)
	}
}

package main

import (
	"context"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/repository"
)

// What status says about an agent. Only live and standby are good.
const (
	statusLive        = "live"    // the published revision is in force and real objects equal it
	statusBehind      = "behind"  // another revision is in force
	statusDrifted     = "drifted" // drift stands
	statusStandby     = "standby" // another agent works, and this one takes over if it ends
	statusRefused     = "refused" // the guard refused the plan
	statusPending     = "pending" // the revision's changes wait for approval
	statusFailed      = "failed"
	statusUnknown     = "unknown" // no proof, or an old one
	statusNotEnrolled = "not-enrolled"
)

func (a *app) statusCommand() *command {
	flags := flag.NewFlagSet("status", flag.ContinueOnError)
	at := a.accessFlags(flags)
	var which selection
	which.flags(flags)
	a.jsonFlag(flags)
	return &command{
		synopsis: "Show which agents run which revision, and how old the proof is", usage: "[options]", flags: flags,
		long: `Everything is verified: the agent's document by the repository's keys, its claim
by the join token, its report by its own key. A report that is older than three
of the agent's intervals proves nothing: the status is unknown.

Status: live, standby, behind, drifted, pending, refused, failed, unknown or
not-enrolled.
Of the agents of one shard one holds the lease and works; the others stand by.

Exit status: 0 if every agent is live or on standby, 1 for errors, 2 if any is not.

JSON: a list of environment, agent, shard, lease_holder, lease_epoch, channel,
status, live_revision, published_revision, outcome, proof_time, proof_age_seconds, converged_time,
next_report_time, objects, drift, open_grants, agent_version, hostname, message.
Of an agent without a verified report, those after published_revision are left
out, but for message.`,
		run: a.overFleet("status", at, &which, func(_ context.Context, _ *repository.Repository, members []*member) (int, error) {
			return a.printStatus(members, time.Now())
		}),
	}
}

// statusResult is an agent's status in JSON.
type statusResult struct {
	Environment string `json:"environment"`
	Agent       string `json:"agent"`
	Shard       string `json:"shard,omitempty"`
	Holder      string `json:"lease_holder,omitempty"`
	Epoch       int64  `json:"lease_epoch,omitempty"`
	Channel     string `json:"channel"`
	Status      string `json:"status"`
	Live        string `json:"live_revision"`
	Published   string `json:"published_revision"`
	*proof
	Message string `json:"message,omitempty"`
}

// proof is what an agent's verified report says.
type proof struct {
	Outcome      control.Outcome `json:"outcome"`
	Time         time.Time       `json:"proof_time"`
	AgeSeconds   int64           `json:"proof_age_seconds"`
	Converged    time.Time       `json:"converged_time,omitzero"`
	NextReport   time.Time       `json:"next_report_time,omitzero"`
	Objects      int             `json:"objects"`
	Drift        int             `json:"drift"`
	OpenGrants   int             `json:"open_grants"`
	AgentVersion string          `json:"agent_version"`
	Hostname     string          `json:"hostname,omitempty"`
}

// status judges one agent.
func (m *member) status(now time.Time) statusResult {
	out := statusResult{Environment: m.declared.Environment, Agent: m.declared.Name, Shard: m.declared.Shard, Epoch: m.holder.Epoch, Channel: m.declared.Channel, Published: m.published}
	out.Holder, _, _ = strings.Cut(m.holder.Holder, "/")
	if m.beat != nil {
		out.Live, out.Message = m.beat.Revision, m.beat.Message
		out.proof = &proof{
			Outcome: m.beat.Outcome, Time: m.beat.Reported(), AgeSeconds: int64(now.Sub(m.beat.Reported()) / time.Second), Converged: m.beat.Converged, NextReport: m.beat.NextRound,
			Objects: m.beat.Objects, Drift: m.beat.Drift, OpenGrants: m.beat.OpenGrants, AgentVersion: m.beat.AgentVersion, Hostname: m.reports.Claim.Hostname,
		}
	}
	if why := m.unproved(now); why != "" {
		out.Status, out.Message = statusUnknown, why
		if m.reports == nil && m.doubt == nil {
			out.Status = statusNotEnrolled
		}
		return out
	}
	out.Status = m.proved()
	if out.Status == statusLive && m.expired != "" {
		out.Status, out.Message = statusUnknown, m.expired
	}
	return out
}

// proved is the status of an agent whose report is good.
func (m *member) proved() string {
	switch {
	case m.beat.Outcome == control.OutcomeFailed:
		return statusFailed
	case m.beat.Outcome == control.OutcomeStandby:
		return statusStandby
	case m.beat.Outcome == control.OutcomeRefused:
		return statusRefused
	case m.beat.Outcome == control.OutcomePending:
		return statusPending
	case m.beat.Outcome == control.OutcomeDrifted:
		return statusDrifted
	case m.published == "" || m.beat.Revision != m.published || m.beat.Channel != m.declared.Channel:
		return statusBehind
	}
	return statusLive
}

func (a *app) printStatus(members []*member, now time.Time) (int, error) {
	code := exitOK
	results := make([]statusResult, len(members))
	rows := make([][]string, len(members))
	for i, m := range members {
		results[i] = m.status(now)
		rows[i] = results[i].row(now)
		if results[i].Status != statusLive && results[i].Status != statusStandby {
			code = exitChanges
		}
	}
	if a.json {
		return code, a.printJSON(results)
	}
	if len(members) == 0 {
		a.note("No agent is declared; the towline_agent resource declares one.")
		return code, nil
	}
	a.table([]string{"ENVIRONMENT", "AGENT", "STATUS", "LEASE", "CHANNEL", "LIVE", "PUBLISHED", "OUTCOME", "PROOF", "OBJECTS", "DRIFT", "GRANTS", "MESSAGE"}, rows)
	return code, nil
}

// lease says who holds the shard's lease.
func (s statusResult) lease() string {
	switch {
	case s.Epoch == 0:
		return none
	case s.Holder == s.Agent:
		return fmt.Sprintf("epoch %d", s.Epoch)
	}
	return fmt.Sprintf("%s, epoch %d", s.Holder, s.Epoch)
}

func (s statusResult) row(now time.Time) []string {
	row := []string{s.Environment, s.Agent, s.Status, s.lease(), s.Channel, short(s.Live), short(s.Published)}
	if s.proof == nil {
		return append(row, none, none, none, none, none, s.Message)
	}
	return append(row, string(s.Outcome), age(s.Time, now), strconv.Itoa(s.Objects), strconv.Itoa(s.Drift), strconv.Itoa(s.OpenGrants), s.Message)
}

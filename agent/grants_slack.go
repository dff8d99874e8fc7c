package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/guard"
	"github.com/towline/terraform-provider-towline/internal/repository"
)

const (
	// maxKeptClicks bounds what is remembered of what people did about grants.
	maxKeptClicks = 200
	// maxShownGrants bounds the grants in a message, maxShownTargets what is named of one.
	maxShownGrants, maxShownTargets = 5, 5
)

// clicksToKeep is what people did in Slack about the grants that have not ended.
func (a *Agent) clicksToKeep(records []repository.GrantRecord) []control.GrantClick {
	var out []control.GrantClick
	for _, record := range records {
		grant, _ := a.settled(record.Grant)
		if record.Refusal != nil || !grant.Ended.IsZero() {
			continue
		}
		if record.Files.Opening != nil {
			out = append(out, *record.Files.Opening)
		}
		out = append(out, record.Files.Clicks...)
	}
	return out[:min(len(out), maxKeptClicks)]
}

// shownInSlack are the grants, open or waiting, that reach this agent's scopes and that
// people may approve or close in Slack.
func (r *round) shownInSlack(records []repository.GrantRecord) []control.Grant {
	var out []control.Grant
	for _, record := range records {
		grant, _ := r.agent.settled(record.Grant)
		if record.Refusal != nil || !grant.Ended.IsZero() || len(out) == maxShownGrants {
			continue
		}
		policy := r.declared.Policies[grant.Request.Policy]
		if len(policy.SlackUserIDs()) > 0 && slices.ContainsFunc(policy.Scopes, func(name string) bool { return slices.Contains(r.self.Scopes, name) }) {
			out = append(out, grant)
		}
	}
	return out
}

// glassButton lets people break the glass over what differs, where a policy lets somebody
// do so in Slack.
func (r *round) glassButton(about press) []button {
	if !slices.ContainsFunc(r.judged, r.mayBreakGlass) {
		return nil
	}
	about.subject, about.number = control.Occurrence(r.driftItems()), int(r.agent.memory.Sequence)
	return []button{about.button(pressBreakGlass)}
}

// mayBreakGlass tells whether a policy lets anybody in Slack suspend the correction of an
// object that no grant holds yet.
func (r *round) mayBreakGlass(j guard.Judged) bool {
	scope := guard.ScopeOf(r.scopes, j.Object)
	if scope == nil || j.Grant != "" || j.Decision == guard.Accepted {
		return false
	}
	for _, policy := range r.declared.Policies {
		if slices.Contains(policy.Scopes, scope.Name) && len(policy.SlackUserIDs()) > 0 {
			return true
		}
	}
	return false
}

// grantButtons let people approve grants that wait, and close those that are there.
func (r *round) grantButtons(about press) []button {
	var out []button
	for _, g := range r.inSlack {
		about.subject, about.number = g.Digest, 0
		verbs := []control.ClickVerb{pressCloseGrant}
		if g.Phase == control.GrantPending {
			verbs = []control.ClickVerb{pressApproveGrant, pressCloseGrant}
		}
		for _, verb := range verbs {
			b := about.button(verb)
			b.about = g.Request.ID
			b.several = len(r.inSlack) > 1
			out = append(out, b)
		}
	}
	return out
}

// grantLines say what grants there are.
func (r *round) grantLines() []string {
	out := make([]string, 0, len(r.inSlack))
	for _, g := range r.inSlack {
		request := g.Request
		targets := make([]string, 0, maxShownTargets)
		for _, target := range request.Targets[:min(len(request.Targets), maxShownTargets)] {
			targets = append(targets, "`"+plain(target)+"`")
		}
		if more := len(request.Targets) - maxShownTargets; more > 0 {
			targets = append(targets, fmt.Sprintf("%d more", more))
		}
		line := fmt.Sprintf("• break-glass grant `%s` under policy %s%s", request.ID, request.Policy, openedText(request.Opener, g.User))
		if g.Phase == control.GrantPending {
			line += fmt.Sprintf(" waits: approvals missing: %d. `towline break-glass approve -environment %s -key KEY %s`. It would hold", g.Missing, request.Environment, request.ID)
		} else {
			line += " holds"
		}
		line += fmt.Sprintf(" %s until %s", strings.Join(targets, ", "), request.Until.Format(time.RFC3339))
		if request.Reason != "" {
			line += ": " + plain(request.Reason)
		}
		out = append(out, line)
	}
	return out
}

// grantsStatus counts the grants, "" if there are none.
func (r *round) grantsStatus() string {
	waiting := 0
	for _, g := range r.inSlack {
		if g.Phase == control.GrantPending {
			waiting++
		}
	}
	var parts []string
	if open := len(r.inSlack) - waiting; open > 0 {
		parts = append(parts, fmt.Sprintf("break-glass grants open: %d", open))
	}
	if waiting > 0 {
		parts = append(parts, fmt.Sprintf("break-glass grants that wait for approval: %d", waiting))
	}
	return strings.Join(parts, "; ")
}

// openedText says who opened a grant in Slack, "" of one that was signed.
func openedText(opener, user string) string {
	if user == "" {
		return ""
	}
	return fmt.Sprintf(", opened in Slack by <@%s> as %s,", plain(user), plain(cmp.Or(opener, "an approver")))
}

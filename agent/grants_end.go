package agent

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/guard"
)

// maxGrantChanges bounds what is told of one grant, in objects; the receipts of its
// rounds have all of it as drift.
const maxGrantChanges = 200

// maxUntold bounds the ends that are remembered because people could not be told.
const maxUntold = 20

// noteGrants remembers what differs while grants are open, and finds out what became of
// it once they are not any more. A round that judged no drift leaves that to a later one.
func (r *round) noteGrants() {
	if !r.known {
		return
	}
	a := r.agent
	open := map[string]bool{}
	for _, g := range r.grants {
		open[g.ID] = true
		seen := a.memory.Grants[g.ID]
		seen.Open, seen.Policy, seen.After, seen.Until = true, g.Policy, g.After, g.Until
		seen.Opener, seen.User = g.Opener, g.User
		for _, j := range r.judged {
			if j.Grant == g.ID {
				seen.add(j)
			}
		}
		a.rememberGrant(g.ID, seen)
	}
	for _, id := range slices.Sorted(maps.Keys(a.memory.Grants)) {
		if seen := a.memory.Grants[id]; seen.Open && !open[id] {
			r.endGrant(id, seen)
		}
	}
}

func (a *Agent) rememberGrant(id string, seen seenGrant) {
	if a.memory.Grants == nil {
		a.memory.Grants = map[string]seenGrant{}
	}
	a.memory.Grants[id] = seen
}

// add notes what differs of an object.
func (s *seenGrant) add(j guard.Judged) {
	address := j.Addr.String()
	i := slices.IndexFunc(s.Changed, func(c control.GrantChange) bool { return c.Address == address })
	if i < 0 && len(s.Changed) >= maxGrantChanges {
		return
	}
	change := control.GrantChange{Address: address, Since: j.Since}
	s.Changed = slices.Clone(s.Changed)
	if i >= 0 {
		change = s.Changed[i]
	} else {
		i, s.Changed = len(s.Changed), append(s.Changed, change)
	}
	change.Deleted, change.Replaced = change.Deleted || j.Deleted, change.Replaced || j.Replaced
	change.Attributes = slices.Compact(slices.Sorted(slices.Values(slices.Concat(change.Attributes, j.Attributes))))
	if j.Since.Before(change.Since) {
		change.Since = j.Since
	}
	s.Changed[i] = change
}

// endGrant says what became of everything that differed while a grant was open.
func (r *round) endGrant(id string, seen seenGrant) {
	end := control.GrantEnd{ID: id, Policy: seen.Policy, Opener: seen.Opener, User: seen.User, Ended: seen.Ended, After: seen.After}
	if end.Ended.IsZero() { // its policy does not allow it any more, or its files are gone
		end.Ended = r.agent.now().UTC()
	}
	for _, change := range seen.Changed {
		end.Changed = append(end.Changed, r.results(change)...)
	}
	r.grantsEnded = append(r.grantsEnded, end)
	untold := append(r.agent.memory.GrantEnds, end)
	r.agent.memory.GrantEnds = untold[max(0, len(untold)-maxUntold):]
	seen.Open, seen.Changed = false, nil
	r.agent.memory.Grants[id] = seen
	r.message = firstLine(strings.TrimPrefix(r.message+"; "+endedText(end), "; "))
}

// results tells apart what became of the attributes of one object.
func (r *round) results(change control.GrantChange) []control.GrantChange {
	byResult := map[string][]string{}
	for _, path := range change.Attributes {
		result := r.resultOf(change.Address, path)
		byResult[result] = append(byResult[result], path)
	}
	if len(change.Attributes) == 0 {
		byResult[r.resultOf(change.Address, "")] = nil
	}
	var out []control.GrantChange
	for _, result := range slices.Sorted(maps.Keys(byResult)) {
		part := change
		part.Attributes, part.Result = byResult[result], result
		out = append(out, part)
	}
	return out
}

// resultOf says what the round made of an attribute, or with "" of an object as a whole.
func (r *round) resultOf(address, path string) string {
	for _, j := range r.judged {
		whole := path == "" && len(j.Attributes) == 0
		if j.Addr.String() != address || !whole && !slices.Contains(j.Attributes, path) {
			continue
		}
		applied := slices.ContainsFunc(r.changes, func(c control.Change) bool { return c.Address == address && c.Result == "applied" })
		if j.Decision == guard.Corrected && !applied {
			return string(guard.Failed)
		}
		return string(j.Decision)
	}
	return control.GrantGone
}

// endedText counts what became of what differed while a grant was open.
func endedText(end control.GrantEnd) string {
	counts := map[string]int{}
	for _, change := range end.Changed {
		counts[change.Result] += max(1, len(change.Attributes))
	}
	if len(counts) == 0 {
		return fmt.Sprintf("grant %s ended, and nothing differs since it was opened", end.ID)
	}
	var parts []string
	for _, result := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", counts[result], result))
	}
	return fmt.Sprintf("grant %s ended; of what had changed: %s", end.ID, strings.Join(parts, ", "))
}

// tellOfGrants tells people of grants that end soon, once for each end, and of those that
// have ended, with the difference.
func (r *round) tellOfGrants(ctx context.Context) error {
	a := r.agent
	for _, g := range r.grants {
		if !r.endsSoon(g) {
			continue
		}
		a.log.Warn("a break-glass grant ends soon", "grant", g.ID, "policy", g.Policy, "until", g.Until, "after", g.After)
		if err := r.post(ctx, r.reminderText(g)); err != nil {
			return err
		}
		seen := a.memory.Grants[g.ID]
		seen.Reminded = g.Until
		a.rememberGrant(g.ID, seen)
	}
	for len(a.memory.GrantEnds) > 0 {
		if err := r.post(ctx, r.endText(a.memory.GrantEnds[0])); err != nil {
			return err
		}
		a.memory.GrantEnds = a.memory.GrantEnds[1:]
	}
	return nil
}

const (
	// remindShare is the share of a grant's time that is left when people are reminded of
	// its end, and remindBefore the least time: enough to extend it, or to finish.
	remindShare  = 10
	remindBefore = 5 * time.Minute
)

// endsSoon tells whether it is time to remind people of a grant's end: later there is no
// round before it.
func (r *round) endsSoon(g guard.OpenGrant) bool {
	a := r.agent
	length := g.Until.Sub(g.Opened)
	before := max(length/remindShare, min(remindBefore, length/2), a.interval+a.interval/remindShare)
	return g.Until.Sub(a.now()) <= before && !a.memory.Grants[g.ID].Reminded.Equal(g.Until)
}

// reminderText says that a grant ends soon, and what happens then.
func (r *round) reminderText(g guard.OpenGrant) string {
	a := r.agent
	then := map[control.After]string{
		control.AfterRevert:  "what differs is corrected then, where its scope enforces",
		control.AfterHold:    "what differs is left and goes on being reported then",
		control.AfterPropose: "the plan that corrects what differs is proposed then, where its scope corrects or proposes",
	}[g.After]
	var out strings.Builder
	fmt.Fprintf(&out, ":hourglass: *%s/%s*: break-glass grant `%s`%s ends in %s, at %s; %s. To go on: `towline break-glass extend -environment %s -for 30m -key KEY %s`\n",
		a.config.Environment, a.config.Agent, g.ID, openedText(g.Opener, g.User), g.Until.Sub(a.now()).Round(time.Second), g.Until.Format(time.RFC3339), then, a.config.Environment, g.ID)
	changesText(&out, a.memory.Grants[g.ID].Changed)
	return out.String()
}

// endText says what became of what had changed while a grant was open.
func (r *round) endText(end control.GrantEnd) string {
	a := r.agent
	var out strings.Builder
	fmt.Fprintf(&out, ":lock: *%s/%s*: break-glass grant `%s` under policy %s%s ended at %s\n", a.config.Environment, a.config.Agent, end.ID, end.Policy, openedText(end.Opener, end.User), end.Ended.Format(time.RFC3339))
	if len(end.Changed) == 0 {
		out.WriteString("Nothing differs since it was opened.\n")
	}
	changesText(&out, end.Changed)
	if slices.ContainsFunc(end.Changed, func(c control.GrantChange) bool {
		return guard.Decision(c.Result) == guard.Held || guard.Decision(c.Result) == guard.Proposed
	}) {
		out.WriteString("To keep what is left, let the repository catch up: `towline drift adopt` prints the change of the configuration.\n")
	}
	return out.String()
}

// changesText lists what differs by name: values may be secret.
func changesText(out *strings.Builder, changes []control.GrantChange) {
	for i, c := range changes {
		if i == maxLines {
			fmt.Fprintf(out, "… and %d more\n", len(changes)-maxLines)
			return
		}
		what := plain(strings.Join(c.Attributes, ", "))
		switch {
		case c.Deleted:
			what = "deleted"
		case what == "":
			what = "replaced by another object"
		}
		if c.Result != "" {
			what += ": " + resultText(c.Result)
		}
		fmt.Fprintf(out, "• `%s`: %s\n", plain(c.Address), what)
	}
}

// resultText is what became of a difference, for people.
func resultText(result string) string {
	if result == control.GrantGone {
		return "does not differ any more"
	}
	return decisionText(guard.Judged{Decision: guard.Decision(result)}, false)
}

package agent

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/guard"
)

// What people read in Slack: names only, because values may be secret.

const (
	// maxLines bounds a list in a message; the rest is counted.
	maxLines = 20
	// maxLine bounds a line of a message, in bytes.
	maxLine = 600
)

// forSlack keeps what others have named from meaning anything to Slack, such as a mention
// of everybody, and from breaking a line or a quotation.
var forSlack = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "`", "'", "\n", " ", "\r", " ")

// plain is a name as it may stand in a message.
func plain(name string) string {
	if len(name) > maxLine/2 {
		name = strings.ToValidUTF8(name[:maxLine/2], "") + "…"
	}
	return forSlack.Replace(name)
}

// driftText is the round as one text.
func (r *round) driftText() string {
	return r.agent.secrets.Redact(strings.Join(append([]string{r.headline()}, r.lines()...), "\n"))
}

func (r *round) where() string { return r.agent.config.Environment + "/" + r.agent.config.Agent }

// headline says in one line how things are.
func (r *round) headline() string {
	switch {
	case len(r.judged) > 0:
		return fmt.Sprintf(":warning: *%s*: %d objects differ from revision %s", r.where(), len(r.judged), short(r.revisionDigest()))
	case r.asked != nil && r.asked.revised:
		return fmt.Sprintf(":hourglass: *%s*: what revision %s changes needs approval", r.where(), short(r.revisionDigest()))
	case len(r.unmanaged) > 0:
		return fmt.Sprintf(":grey_question: *%s*: nothing of its own differs, but there are %d objects that nobody manages", r.where(), len(r.unmanaged))
	case len(r.inSlack) > 0:
		return fmt.Sprintf(":unlock: *%s*: nothing differs; %s", r.where(), r.grantsStatus())
	}
	return fmt.Sprintf(":white_check_mark: *%s*: the drift is gone.", r.where())
}

// lines say what drifted, what waits and what is done about it.
func (r *round) lines() []string {
	var out []string
	for i, j := range r.judged {
		if i == maxLines {
			out = append(out, fmt.Sprintf("… and %d more", len(r.judged)-maxLines))
			break
		}
		out = append(out, fmt.Sprintf("• `%s`: %s: %s", plain(j.Addr.String()), driftedText(j), decisionText(j, r.fruitless())))
		out = append(out, writesText(j)...)
	}
	return slices.Concat(out, r.askedLines(), r.grantLines(), r.unmanagedLines())
}

// driftedText names what of an object differs.
func driftedText(j guard.Judged) string {
	what := plain(strings.Join(j.Attributes, ", "))
	switch {
	case j.Deleted:
		return "deleted"
	case j.Replaced:
		return strings.TrimPrefix(what+", replaced by another object", ", ")
	}
	return what
}

// askedLines say what waits for approval, and what people have said.
func (r *round) askedLines() []string {
	if r.asked == nil {
		return nil
	}
	var out []string
	if r.asked.revised {
		for i, c := range r.asked.proposal.Changes {
			if i == maxLines {
				out = append(out, fmt.Sprintf("… and %d more", len(r.asked.proposal.Changes)-maxLines))
				break
			}
			out = append(out, fmt.Sprintf("• `%s`: to %s", plain(c.Address), actionsText(c.Actions)))
		}
	}
	return append(out, r.askedText())
}

func actionsText(actions []control.Action) string {
	if len(actions) == 2 {
		return "replace"
	}
	texts := make([]string, len(actions))
	for i, action := range actions {
		texts[i] = string(action)
	}
	return strings.Join(texts, " and ")
}

// askedText says how it stands with the plan that needs approval.
func (r *round) askedText() string {
	standing, digest := r.asked.standing, short(r.asked.proposal.Digest)
	by := ""
	if len(standing.Approvers) > 0 {
		names := make([]string, len(standing.Approvers))
		for i, id := range standing.Approvers {
			names[i] = r.approverName(id)
		}
		by = " by " + strings.Join(names, ", ")
	}
	switch standing.Phase {
	case control.ProposalApproved:
		return fmt.Sprintf("Plan `%s` was approved%s.", digest, by)
	case control.ProposalRejected:
		return fmt.Sprintf("Plan `%s` was rejected by %s (%s).", digest, r.approverName(standing.Rejector), plain(cmp.Or(standing.Reason, "no reason given")))
	}
	if by != "" {
		by = ", after approval" + by
	}
	return fmt.Sprintf("Plan `%[1]s` waits: approvals missing: %[2]d%[3]s. `towline plans show %[1]s`, and `towline plans approve -environment %[4]s -key KEY %[1]s`",
		digest, standing.Missing, by, r.agent.config.Environment)
}

// approverName names an approver of the plan as Slack knows the person, or by the comment
// of the key.
func (r *round) approverName(id string) string {
	name := short(id)
	for _, scope := range r.asked.proposal.Scopes {
		if user := r.declared.Scopes[scope].SlackUser(id); user != "" {
			return "<@" + user + ">"
		}
		if comment := r.declared.Scopes[scope].ApproverComment(id); comment != "" {
			name = plain(comment)
		}
	}
	return name
}

// writesText names when another writer changed what is no longer corrected, and which
// of the values were the same. Values themselves may be secret.
func writesText(j guard.Judged) []string {
	var out []string
	for _, path := range slices.Sorted(maps.Keys(j.Writes)) {
		names := map[string]string{}
		var writes []string
		for _, w := range j.Writes[path] {
			if names[w.Value] == "" {
				names[w.Value] = fmt.Sprintf("value %d", len(names)+1)
			}
			writes = append(writes, w.At.Format(time.RFC3339)+" "+names[w.Value])
		}
		out = append(out, fmt.Sprintf("    %s was changed at %s", plain(path), strings.Join(writes, ", ")))
	}
	return out
}

// unmanagedLines say what nobody manages.
func (r *round) unmanagedLines() []string {
	var out []string
	for i, item := range r.unmanaged {
		if i == maxLines {
			return append(out, fmt.Sprintf("… and %d more that nobody manages", len(r.unmanaged)-maxLines))
		}
		out = append(out, fmt.Sprintf("• `%s` in `%s`: nobody manages it", plain(item.ID), plain(item.Inventory)))
	}
	return out
}

// fruitless tells whether the round applied nothing that it meant to, or not all of it.
func (r *round) fruitless() bool {
	nothingDone := r.outcome == control.OutcomePending && r.waits == ""
	return r.outcome == control.OutcomeFailed || r.outcome == control.OutcomeRefused || nothingDone
}

// decisionText says what is done about drift; fruitless tells that the round did not bring
// about what it meant to.
func decisionText(j guard.Judged, fruitless bool) string {
	switch j.Decision {
	case guard.Corrected:
		if fruitless {
			return "to be corrected, which this round did not bring about"
		}
		return "corrected"
	case guard.Accepted:
		return "another object, as it should be"
	case guard.Stopped:
		return "no longer corrected: another writer keeps changing it"
	case guard.InGrace:
		return "will be corrected after the grace time"
	case guard.Proposed:
		return "waits for approval"
	case guard.Held:
		switch {
		case j.HeldBy != "":
			return "left alone until it changes or is released, by the word of <@" + plain(j.HeldBy) + ">"
		case j.Grant != "":
			return "left alone under break-glass grant " + j.Grant
		}
		return "left alone since a break-glass grant ended"
	case guard.Failed:
		return "could not be corrected"
	default:
		return "observed only"
	}
}

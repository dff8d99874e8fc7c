package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/guard"
)

// notify tells people of a drift set once: when it appears, when it changes and
// when it is gone. A set that was corrected in the round that saw it needs no end.
func (r *round) notify(ctx context.Context) error {
	a := r.agent
	if r.plan == nil || r.self.Slack == nil {
		return nil
	}
	set := control.DriftSet(r.driftItems()) + unmanagedSet(r.unmanaged)
	if set == a.memory.Told {
		return nil
	}
	text := r.driftText()
	told := set
	if r.standing() == 0 && len(r.judged) > 0 {
		told = unmanagedSet(r.unmanaged) // corrected: that the next round has no drift is no news
	}
	if err := r.post(ctx, text); err != nil {
		return err
	}
	a.memory.Told = told
	return nil
}

// withoutURL takes the webhook, which is a secret, out of an error.
func withoutURL(err error) error {
	var urlErr *url.Error
	if errors.As(err, &urlErr) {
		return urlErr.Err
	}
	return err
}

// maxLines bounds a message; the rest is counted.
const maxLines = 20

// driftText says what drifted and what is done, with names only: values may be secret.
func (r *round) driftText() string {
	where := r.agent.config.Environment + "/" + r.agent.config.Agent
	var out strings.Builder
	if len(r.judged) == 0 {
		if len(r.unmanaged) == 0 {
			return fmt.Sprintf(":white_check_mark: *%s*: the drift is gone.", where)
		}
		fmt.Fprintf(&out, ":grey_question: *%s*: nothing of its own differs, but there are %d objects that nobody manages\n", where, len(r.unmanaged))
		r.unmanagedText(&out)
		return out.String()
	}
	fmt.Fprintf(&out, ":warning: *%s*: %d objects differ from revision %s\n", where, len(r.judged), short(r.revisionDigest()))
	for i, j := range r.judged {
		if i == maxLines {
			fmt.Fprintf(&out, "… and %d more", len(r.judged)-maxLines)
			break
		}
		what := strings.Join(j.Attributes, ", ")
		switch {
		case j.Deleted:
			what = "deleted"
		case j.Replaced:
			what = strings.TrimPrefix(what+", replaced by another object", ", ")
		}
		fmt.Fprintf(&out, "• `%s`: %s: %s\n", j.Addr, what, decisionText(j))
		writesText(&out, j)
	}
	if digest := r.agent.memory.Proposal; digest != "" {
		fmt.Fprintf(&out, "Plan `%s` would correct what waits for approval: `towline plans show %s`, and `towline plans approve -environment %s -key KEY %s`\n",
			short(digest), short(digest), r.agent.config.Environment, short(digest))
	}
	r.unmanagedText(&out)
	return out.String()
}

// writesText names when another writer changed what is no longer corrected, and which
// of the values were the same. Values themselves may be secret.
func writesText(out *strings.Builder, j guard.Judged) {
	for _, path := range slices.Sorted(maps.Keys(j.Writes)) {
		names := map[string]string{}
		var writes []string
		for _, w := range j.Writes[path] {
			if names[w.Value] == "" {
				names[w.Value] = fmt.Sprintf("value %d", len(names)+1)
			}
			writes = append(writes, w.At.Format(time.RFC3339)+" "+names[w.Value])
		}
		fmt.Fprintf(out, "    %s was changed at %s\n", path, strings.Join(writes, ", "))
	}
}

// unmanagedText says what nobody manages.
func (r *round) unmanagedText(out *strings.Builder) {
	for i, item := range r.unmanaged {
		if i == maxLines {
			fmt.Fprintf(out, "… and %d more that nobody manages\n", len(r.unmanaged)-maxLines)
			return
		}
		fmt.Fprintf(out, "• `%s` in `%s`: nobody manages it\n", item.ID, item.Inventory)
	}
}

// unmanagedSet is the identity of what nobody manages, "" if there is nothing.
func unmanagedSet(items []control.UnmanagedItem) string {
	var out strings.Builder
	for _, item := range items {
		fmt.Fprintf(&out, " %s %s %s", item.Inventory, item.ID, item.Digest)
	}
	if out.Len() == 0 {
		return ""
	}
	return "/" + digestOf([]byte(out.String()))
}

func decisionText(j guard.Judged) string {
	switch j.Decision {
	case guard.Corrected:
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
		if j.Grant != "" {
			return "left alone under break-glass grant " + j.Grant
		}
		return "left alone since a break-glass grant ended"
	case guard.Failed:
		return "could not be corrected"
	default:
		return "observed only"
	}
}

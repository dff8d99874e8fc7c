package thirtydays

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/simcloud/cloudapi"
)

// grantFor is how long an engineer asks to be left alone.
const grantFor = 4 * time.Hour

// step is something that happens at a minute, after the rounds of that minute.
type step struct {
	minute int
	change *change
	undo   bool
}

// steps are all that people do, in order.
func steps(changes []change) []step {
	var out []step
	for i := range changes {
		c := &changes[i]
		out = append(out, step{c.minute, c, false})
		if end := c.minute + c.lifespan; c.lifespan > 0 && end < Minutes {
			out = append(out, step{end, c, true})
		}
	}
	slices.SortStableFunc(out, func(a, b step) int { return cmp.Compare(a.minute, b.minute) })
	return out
}

func (c *change) ref() cloudapi.Ref {
	t := c.target()
	return cloudapi.Ref{Environment: c.environment(), Service: Services[c.service], Kind: t.kind, Name: t.name}
}

// address is the changed object's address in the example.
func (c *change) address() string {
	names := map[string]string{"config": "settings", "secret_claim": "token", "scheduled_job": "nightly", "network_rule": "ingress"}
	t := c.target()
	return fmt.Sprintf("simcloud_%s.%s[%q]", t.kind, cmp.Or(names[t.kind], "this"), Services[c.service])
}

// people make changes in the cloud by hand and undo some.
type people struct {
	site *site
	// before are the values that changes replaced, by number.
	before map[int]any
}

// do makes or undoes a change.
func (p *people) do(ctx context.Context, s step) error {
	t, ref := s.change.target(), s.change.ref()
	actor := s.change.actor()
	if s.undo {
		actor = s.change.undoer()
	}
	hand, err := p.site.as(actor)
	if err != nil {
		return err
	}
	object, err := hand.Get(ctx, ref)
	if err != nil {
		return fmt.Errorf("look at %s: %w", ref, err)
	}
	was := object.Attributes[t.attribute]
	value := p.before[s.change.number]
	if !s.undo {
		p.before[s.change.number] = was
		value = another(t, was, s.change.number)
	}
	after, err := hand.Patch(ctx, ref, map[string]any{t.attribute: value})
	if err != nil {
		return fmt.Errorf("change %s: %w", ref, err)
	}
	if !s.undo && after.Revision == object.Revision {
		return fmt.Errorf("change %d of %s.%s makes no difference: it was %v", s.change.number, ref, t.attribute, was)
	}
	return nil
}

// another is the value that a change gives an attribute.
func another(t target, was any, number int) any {
	if t.value != nil {
		return t.value(number)
	}
	on, _ := was.(bool)
	return !on
}

// open opens a grant for what an engineer is about to mend.
func (p *people) open(ctx context.Context, c *change) error {
	now := p.site.clock.read()
	request := control.GrantRequest{Version: control.FormatVersion, ID: fmt.Sprintf("fix-%02d", c.number), Environment: c.environment(), Policy: policyName,
		Targets: []string{c.address() + "." + c.target().path}, Reason: "emergency", Opened: now, Until: now.Add(grantFor), Opener: c.actor()}
	signed, err := control.SignGrantRequest(request, p.site.engineer)
	if err != nil {
		return err
	}
	_, err = p.site.store.PutIfAbsent(ctx, control.GrantRequestKey(request.Environment, request.ID), signed)
	return err
}

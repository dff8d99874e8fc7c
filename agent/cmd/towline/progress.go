package main

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/engine"
)

// progress tells a person what happens, as terraform does.
type progress struct {
	app *app
	mu  sync.Mutex
}

func newProgress(a *app) *progress { return &progress{app: a} }

func (p *progress) line(addr, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.app.printf("%s %s\n", p.app.paint("\x1b[1m", addr+":"), text)
}

func identified(id string) string {
	if id == "" {
		return ""
	}
	return fmt.Sprintf(" [id=%s]", id)
}

// Refreshing implements engine.Hook.
func (p *progress) Refreshing(addr addrs.ResourceInstance, id string) {
	p.line(addr.String(), "Refreshing state..."+identified(id))
}

// Reading implements engine.Hook.
func (p *progress) Reading(addr addrs.ResourceInstance) { p.line(addr.String(), "Reading...") }

// ReadDone implements engine.Hook.
func (p *progress) ReadDone(addr addrs.ResourceInstance, id string, took time.Duration) {
	p.line(addr.String(), fmt.Sprintf("Read complete after %s%s", seconds(took), identified(id)))
}

// Applying implements engine.Hook.
func (p *progress) Applying(ev engine.ApplyEvent) {
	verb := map[string]string{"create": "Creating...", "update": "Modifying...", "delete": "Destroying..."}[ev.Verb]
	p.line(named(ev), verb+identified(ev.ID))
}

// Applied implements engine.Hook.
func (p *progress) Applied(ev engine.ApplyEvent, took time.Duration, failed bool) {
	if failed {
		return // the diagnostic tells
	}
	verb := map[string]string{"create": "Creation", "update": "Modifications", "delete": "Destruction"}[ev.Verb]
	id := identified(ev.ID)
	if ev.Verb == "delete" {
		id = ""
	}
	p.line(named(ev), fmt.Sprintf("%s complete after %s%s", verb, seconds(took), id))
}

func named(ev engine.ApplyEvent) string {
	if ev.Deposed == "" {
		return ev.Addr.String()
	}
	return fmt.Sprintf("%s (deposed object %s)", ev.Addr, ev.Deposed)
}

func seconds(d time.Duration) string { return d.Truncate(time.Second).String() }

// resultCounter counts what an apply did.
type resultCounter struct {
	engine.NoHook
	added, changed, destroyed atomic.Int64
}

// Applied implements engine.Hook.
func (c *resultCounter) Applied(ev engine.ApplyEvent, _ time.Duration, failed bool) {
	if failed {
		return
	}
	switch ev.Verb {
	case "create":
		c.added.Add(1)
	case "update":
		c.changed.Add(1)
	case "delete":
		c.destroyed.Add(1)
	}
}

// hooks tells several.
type hooks []engine.Hook

// Refreshing implements engine.Hook.
func (h hooks) Refreshing(addr addrs.ResourceInstance, id string) {
	for _, hook := range h {
		hook.Refreshing(addr, id)
	}
}

// Reading implements engine.Hook.
func (h hooks) Reading(addr addrs.ResourceInstance) {
	for _, hook := range h {
		hook.Reading(addr)
	}
}

// ReadDone implements engine.Hook.
func (h hooks) ReadDone(addr addrs.ResourceInstance, id string, took time.Duration) {
	for _, hook := range h {
		hook.ReadDone(addr, id, took)
	}
}

// Applying implements engine.Hook.
func (h hooks) Applying(ev engine.ApplyEvent) {
	for _, hook := range h {
		hook.Applying(ev)
	}
}

// Applied implements engine.Hook.
func (h hooks) Applied(ev engine.ApplyEvent, took time.Duration, failed bool) {
	for _, hook := range h {
		hook.Applied(ev, took, failed)
	}
}

package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/engine"
)

// progress tells a person what happens, as terraform does: a line for each
// object begun and done, and one every ten seconds for what takes long. On a
// terminal the last line says how much is done and what is waited for.
type progress struct {
	app *app

	mu      sync.Mutex
	total   int
	done    int
	running map[string]*activity
	// lines wait to be written: a write for each, while everybody waits for it, is as much work as the reads
	// that they tell of.
	lines bytes.Buffer
	// status is what the last line of the terminal shows now, "" if nothing.
	status string
	stop   chan struct{}
}

// activity is one call under way.
type activity struct {
	name, verb string // "Still VERB..."
	began      time.Time
	told       int // how many times its length was told
}

// Intervals of progress: the status line is there within 0.2 s of the start.
const (
	statusInterval = 200 * time.Millisecond
	linesInterval  = 50 * time.Millisecond
	stillInterval  = 10 * time.Second
)

func newProgress(a *app) *progress {
	return &progress{app: a, running: map[string]*activity{}}
}

// Expect implements engine.Hook: an operation begins.
func (p *progress) Expect(total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total, p.done = total, 0
	if p.stop == nil {
		p.stop = make(chan struct{})
		go p.watch(p.stop)
	}
}

// Ended implements engine.Hook: the operation is over.
func (p *progress) Ended() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stop != nil {
		close(p.stop)
		p.stop = nil
	}
	p.flush()
	p.clear()
	clear(p.running)
}

// watch keeps the status line and tells what takes long.
func (p *progress) watch(stop <-chan struct{}) {
	status, lines := time.NewTicker(statusInterval), time.NewTicker(linesInterval)
	defer status.Stop()
	defer lines.Stop()
	for {
		select {
		case <-stop:
			return
		case now := <-status.C:
			p.tick(now)
		case <-lines.C:
			p.mu.Lock()
			p.flush()
			p.mu.Unlock()
		}
	}
}

func (p *progress) tick(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stop == nil {
		return
	}
	for _, a := range p.oldest() {
		if n := int(now.Sub(a.began) / stillInterval); n > a.told && a.verb != "" {
			a.told = n
			p.print(a.name, fmt.Sprintf("Still %s... [%s elapsed]", a.verb, (time.Duration(n)*stillInterval).String()))
		}
	}
	p.showStatus(now)
}

// oldest lists what is under way, longest first.
func (p *progress) oldest() []*activity {
	out := make([]*activity, 0, len(p.running))
	for _, a := range p.running {
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b *activity) int {
		if c := a.began.Compare(b.began); c != 0 {
			return c
		}
		return strings.Compare(a.name, b.name)
	})
	return out
}

// showStatus writes the status line of a terminal.
func (p *progress) showStatus(now time.Time) {
	if !p.app.terminal || p.total == 0 {
		return
	}
	p.flush()
	text := fmt.Sprintf("%d of %d done", p.done, p.total)
	if oldest := p.oldest(); len(oldest) > 0 {
		text += fmt.Sprintf(", %d under way, longest %s (%s)", len(oldest), oldest[0].name, now.Sub(oldest[0].began).Truncate(100*time.Millisecond))
	}
	if width := p.app.width; width > 1 && len(text) >= width {
		text = text[:width-1]
	}
	p.clear()
	p.app.printf("%s", text)
	p.status = text
}

// clear takes the status line away.
func (p *progress) clear() {
	if p.status != "" {
		p.app.printf("\r\x1b[2K")
		p.status = ""
	}
}

// print has a line written above the status, soon.
func (p *progress) print(addr, text string) {
	p.lines.WriteString(p.app.paint("\x1b[1m", addr+":"))
	p.lines.WriteString(" " + text + "\n")
	if p.stop == nil { // nobody would come back to it
		p.flush()
	}
}

// flush writes the lines that wait.
func (p *progress) flush() {
	if p.lines.Len() == 0 {
		return
	}
	status := p.status
	p.clear()
	p.app.printf("%s", p.lines.Bytes())
	p.lines.Reset()
	if status != "" {
		p.app.printf("%s", status)
		p.status = status
	}
}

// begin notes a call, end that it is over.
func (p *progress) begin(key, name, verb, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running[key] = &activity{name: name, verb: verb, began: time.Now()}
	p.print(name, text)
}

func (p *progress) end(key, name, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.running, key)
	p.done++
	if text != "" {
		p.print(name, text)
	}
}

func identified(id string) string {
	if id == "" {
		return ""
	}
	return fmt.Sprintf(" [id=%s]", id)
}

// Refreshing implements engine.Hook.
func (p *progress) Refreshing(addr addrs.ResourceInstance, id string) {
	name := addr.String()
	p.begin("refresh "+name, name, "", "Refreshing state..."+identified(id))
}

// Refreshed implements engine.Hook.
func (p *progress) Refreshed(addr addrs.ResourceInstance) {
	name := addr.String()
	p.end("refresh "+name, name, "")
}

// Reading implements engine.Hook.
func (p *progress) Reading(addr addrs.ResourceInstance) {
	name := addr.String()
	p.begin("read "+name, name, "reading", "Reading...")
}

// ReadDone implements engine.Hook.
func (p *progress) ReadDone(addr addrs.ResourceInstance, id string, took time.Duration) {
	name := addr.String()
	p.end("read "+name, name, fmt.Sprintf("Read complete after %s%s", seconds(took), identified(id)))
}

// Applying implements engine.Hook.
func (p *progress) Applying(ev engine.ApplyEvent) {
	verb := map[string]string{"create": "creating", "update": "modifying", "delete": "destroying"}[ev.Verb]
	p.begin(ev.Verb+" "+named(ev), named(ev), verb, strings.ToUpper(verb[:1])+verb[1:]+"..."+identified(ev.ID))
}

// Applied implements engine.Hook.
func (p *progress) Applied(ev engine.ApplyEvent, took time.Duration, failed bool) {
	text := ""
	if !failed { // the diagnostic tells of a failure
		what := map[string]string{"create": "Creation", "update": "Modifications", "delete": "Destruction"}[ev.Verb]
		id := identified(ev.ID)
		if ev.Verb == "delete" {
			id = ""
		}
		text = fmt.Sprintf("%s complete after %s%s", what, seconds(took), id)
	}
	p.end(ev.Verb+" "+named(ev), named(ev), text)
}

// Ephemeral implements engine.Hook.
func (p *progress) Ephemeral(ev engine.EphemeralEvent) {
	name, verb := ev.Addr.String(), strings.ToUpper(ev.Verb[:1])+ev.Verb[1:]
	key := "ephemeral " + ev.Verb + " " + name
	doing := map[string]string{"open": "opening", "renew": "renewing", "close": "closing"}[ev.Verb]
	switch {
	case !ev.Ended:
		p.begin(key, name, doing, strings.ToUpper(doing[:1])+doing[1:]+"...")
	case ev.Failed: // the diagnostic tells of it
		p.end(key, name, "")
	default:
		p.end(key, name, fmt.Sprintf("%s complete after %s", verb, seconds(ev.Took)))
	}
}

// Provisioning implements engine.Hook.
func (p *progress) Provisioning(ev engine.ProvisionEvent) {
	p.tell(ev.Addr.String(), fmt.Sprintf("Provisioning with '%s'...", ev.Type))
}

// ProvisionOutput implements engine.Hook.
func (p *progress) ProvisionOutput(ev engine.ProvisionEvent, line string) {
	p.tell(fmt.Sprintf("%s (%s)", ev.Addr, ev.Type), line)
}

// Provisioned implements engine.Hook: the diagnostic tells of a failure, and the
// end of the object's change of anything else.
func (p *progress) Provisioned(engine.ProvisionEvent, bool) {}

func (p *progress) tell(name, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.print(name, text)
}

func named(ev engine.ApplyEvent) string {
	if ev.Deposed == "" {
		return ev.Addr.String()
	}
	return fmt.Sprintf("%s (deposed object %s)", ev.Addr, ev.Deposed)
}

func seconds(d time.Duration) string { return d.Truncate(time.Second).String() }

// counting counts what an apply did, and passes it on.
type counting struct {
	engine.Hook
	added, changed, destroyed atomic.Int64
}

// Applied implements engine.Hook.
func (c *counting) Applied(ev engine.ApplyEvent, took time.Duration, failed bool) {
	c.Hook.Applied(ev, took, failed)
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

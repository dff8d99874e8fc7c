package stream

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/engine"
)

// stillInterval is how often a call that goes on is told of.
const stillInterval = 10 * time.Second

// activity is one call under way.
type activity struct {
	addr  addrs.ResourceInstance
	verb  string
	id    string
	began time.Time
	told  int // how many times its length was told
	// kind begins the types of its messages: apply or ephemeral_op.
	kind string
}

// verbs are how messages tell of each action: while it goes on and when it is over.
var verbs = map[string][2]string{
	"create": {"creating", "Creation"}, "update": {"modifying", "Modifications"}, "delete": {"destroying", "Destruction"}, "read": {"refreshing", "Refresh"},
	"open": {"opening", "Opening"}, "renew": {"renewing", "Renewal"}, "close": {"closing", "Closing"},
}

func doing(verb string) string { return strings.ToUpper(verb[:1]) + verb[1:] }

// Expect implements engine.Hook: an operation begins.
func (s *Stream) Expect(int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop == nil {
		s.stop = make(chan struct{})
		go s.watch(s.stop)
	}
}

// Ended implements engine.Hook: the operation is over.
func (s *Stream) Ended() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop != nil {
		close(s.stop)
		s.stop = nil
	}
	clear(s.running)
}

func (s *Stream) watch(stop <-chan struct{}) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-stop:
			return
		case <-ticker.C:
			s.tick()
		}
	}
}

// tick tells of calls that have gone on for another interval.
func (s *Stream) tick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	var late []*activity
	for _, a := range s.running {
		if int(now.Sub(a.began)/stillInterval) > a.told && a.kind != "" {
			late = append(late, a)
		}
	}
	slices.SortFunc(late, func(a, b *activity) int { return a.addr.Compare(b.addr) })
	for _, a := range late {
		a.told = int(now.Sub(a.began) / stillInterval)
		elapsed := time.Duration(a.told) * stillInterval
		s.send("info", a.kind+"_progress", fmt.Sprintf("%s: Still %s... [%s elapsed]", a.addr, verbs[a.verb][0], elapsed),
			fields{"hook": fields{"resource": resource(a.addr), "action": a.verb, "elapsed_seconds": elapsed.Seconds()}})
	}
}

// begin tells that a call begins.
func (s *Stream) begin(key string, a activity) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a.began = s.now()
	s.running[key] = &a
	hook := fields{"resource": resource(a.addr), "action": a.verb}
	s.send("info", a.kind+"_start", fmt.Sprintf("%s: %s...%s", a.addr, doing(verbs[a.verb][0]), identify(hook, a.id)), fields{"hook": hook})
}

// end tells that a call is over.
func (s *Stream) end(key string, a activity, took time.Duration, failed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, key)
	took = took.Truncate(time.Second)
	hook := fields{"resource": resource(a.addr), "action": a.verb, "elapsed_seconds": took.Seconds()}
	if failed {
		s.send("info", a.kind+"_errored", fmt.Sprintf("%s: %s errored after %s", a.addr, verbs[a.verb][1], took), fields{"hook": hook})
		return
	}
	s.send("info", a.kind+"_complete", fmt.Sprintf("%s: %s complete after %s%s", a.addr, verbs[a.verb][1], took, identify(hook, a.id)), fields{"hook": hook})
}

// identify adds an object's id to a message and returns it as text.
func identify(hook fields, id string) string {
	if id == "" {
		return ""
	}
	hook["id_key"], hook["id_value"] = "id", id
	return fmt.Sprintf(" [id=%s]", id)
}

// Refreshing implements engine.Hook.
func (s *Stream) Refreshing(addr addrs.ResourceInstance, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running["refresh "+addr.String()] = &activity{addr: addr, id: id, began: s.now()}
	hook := fields{"resource": resource(addr)}
	s.send("info", "refresh_start", fmt.Sprintf("%s: Refreshing state...%s", addr, identify(hook, id)), fields{"hook": hook})
}

// Refreshed implements engine.Hook.
func (s *Stream) Refreshed(addr addrs.ResourceInstance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := "refresh " + addr.String()
	id := ""
	if a := s.running[key]; a != nil {
		id = a.id
	}
	delete(s.running, key)
	hook := fields{"resource": resource(addr)}
	s.send("info", "refresh_complete", fmt.Sprintf("%s: Refresh complete%s", addr, identify(hook, id)), fields{"hook": hook})
}

// Reading implements engine.Hook.
func (s *Stream) Reading(addr addrs.ResourceInstance) {
	s.begin("read "+addr.String(), activity{addr: addr, verb: "read", kind: "apply"})
}

// ReadDone implements engine.Hook.
func (s *Stream) ReadDone(addr addrs.ResourceInstance, id string, took time.Duration) {
	s.end("read "+addr.String(), activity{addr: addr, verb: "read", id: id, kind: "apply"}, took, false)
}

// Applying implements engine.Hook.
func (s *Stream) Applying(ev engine.ApplyEvent) {
	s.begin(applyKey(ev), activity{addr: ev.Addr, verb: ev.Verb, id: ev.ID, kind: "apply"})
}

// Applied implements engine.Hook.
func (s *Stream) Applied(ev engine.ApplyEvent, took time.Duration, failed bool) {
	a := activity{addr: ev.Addr, verb: ev.Verb, id: ev.ID, kind: "apply"}
	if ev.Verb == "delete" {
		a.id = "" // there is no such object any more
	}
	s.end(applyKey(ev), a, took, failed)
}

func applyKey(ev engine.ApplyEvent) string {
	return ev.Verb + " " + ev.Addr.String() + " " + ev.Deposed
}

// Ephemeral implements engine.Hook.
func (s *Stream) Ephemeral(ev engine.EphemeralEvent) {
	key := ev.Verb + " " + ev.Addr.String()
	a := activity{addr: ev.Addr, verb: ev.Verb, kind: "ephemeral_op"}
	if ev.Ended {
		s.end(key, a, ev.Took, ev.Failed)
		return
	}
	s.begin(key, a)
}

// Provisioning implements engine.Hook.
func (s *Stream) Provisioning(ev engine.ProvisionEvent) {
	s.provision("start", fmt.Sprintf("%s: Provisioning with '%s'...", ev.Addr, ev.Type), ev, nil)
}

// ProvisionOutput implements engine.Hook.
func (s *Stream) ProvisionOutput(ev engine.ProvisionEvent, line string) {
	s.provision("progress", fmt.Sprintf("%s: (%s): %s", ev.Addr, ev.Type, line), ev, fields{"output": line})
}

// Provisioned implements engine.Hook.
func (s *Stream) Provisioned(ev engine.ProvisionEvent, failed bool) {
	if failed {
		s.provision("errored", fmt.Sprintf("%s: (%s) Provisioning errored", ev.Addr, ev.Type), ev, nil)
		return
	}
	s.provision("complete", fmt.Sprintf("%s: (%s) Provisioning complete", ev.Addr, ev.Type), ev, nil)
}

func (s *Stream) provision(kind, text string, ev engine.ProvisionEvent, more fields) {
	hook := fields{"resource": resource(ev.Addr), "provisioner": ev.Type}
	for name, value := range more {
		hook[name] = value
	}
	s.info("provision_"+kind, text, fields{"hook": hook})
}

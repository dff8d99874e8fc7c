package guard

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objchange"
)

// Decision is what happens to drift.
type Decision string

// The decisions, as they stand in receipts.
const (
	Observed  Decision = "observed"
	Proposed  Decision = "proposed"
	InGrace   Decision = "in-grace"
	Corrected Decision = "corrected"
	Held      Decision = "held"
	Failed    Decision = "failed"
	// Stopped: another writer keeps changing what is corrected.
	Stopped Decision = "stopped"
	// Accepted: another object is in the place of the recorded one, and it is as it should be.
	Accepted Decision = "accepted"
)

// Stands tells whether drift is left as it is.
func (d Decision) Stands() bool { return d != Corrected && d != Accepted }

// Remembered is what is known of an attribute's drift from earlier rounds.
type Remembered struct {
	// Since is when the drift was first seen; zero when there is none now.
	Since time.Time `json:"since,omitzero"`
	// Grant is the ID of the last grant that held the drift, After its policy's choice for the end.
	Grant string        `json:"grant,omitempty"`
	After control.After `json:"after,omitempty"`
	// Writes are the last changes that somebody else made, Corrections when they were
	// corrected; both for as long as they matter to oscillation.
	Writes      []Write     `json:"writes,omitempty"`
	Corrections []time.Time `json:"corrections,omitempty"`
	// Until is how long the last correction matters.
	Until time.Time `json:"until,omitzero"`
	// Hold is a person's word that the correction waits, as long as the value stays.
	Hold *Hold `json:"hold,omitempty"`
}

// Hold is a person's word that the correction of drift waits.
type Hold struct {
	// Subject is what the word is about, as [control.Occurrence] has it; By is the person.
	Subject string `json:"subject"`
	By      string `json:"by"`
	// Value is a digest of the value that is held.
	Value string `json:"value"`
}

// Write is a change by somebody else, as the agent saw it.
type Write struct {
	At time.Time `json:"at"`
	// Value is a digest of the value.
	Value string `json:"value"`
}

// Memory is the drift that stands or was corrected lately, by address and path. The
// agent keeps it between rounds.
type Memory map[string]map[string]Remembered

// Addresses are the objects whose drift stands.
func (m Memory) Addresses() map[string]bool {
	out := map[string]bool{}
	for addr, paths := range m {
		for _, known := range paths {
			if !known.Since.IsZero() {
				out[addr] = true
			}
		}
	}
	return out
}

// Hold notes that the correction of the drift that stands waits, where may says so of an
// address.
func (m Memory) Hold(subject, by string, may func(addr string) bool) {
	for addr, paths := range m {
		if !may(addr) {
			continue
		}
		for path, known := range paths {
			if n := len(known.Writes); !known.Since.IsZero() && n > 0 {
				known.Hold = &Hold{Subject: subject, By: by, Value: known.Writes[n-1].Value}
				paths[path] = known
			}
		}
	}
}

// Release takes back a person's word where may says so of an address.
func (m Memory) Release(subject string, may func(addr string) bool) {
	for addr, paths := range m {
		if !may(addr) {
			continue
		}
		for path, known := range paths {
			if known.Hold != nil && known.Hold.Subject == subject {
				known.Hold = nil
				paths[path] = known
			}
		}
	}
}

// Holds are the subjects of the words by which something is held, sorted.
func (m Memory) Holds() []string {
	var out []string
	for _, paths := range m {
		for _, known := range paths {
			if known.Hold != nil {
				out = append(out, known.Hold.Subject)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// OpenGrant is a grant in force.
type OpenGrant struct {
	ID      string
	Policy  string
	Targets []string
	Opened  time.Time
	Until   time.Time
	After   control.After
	// Scopes are those of the policy; a grant has no effect outside them.
	Scopes []string
	// Opener names who opened it, User is who that is in Slack if it was opened there.
	Opener, User string
}

// Judged is a decision about attributes of one object that have it in common.
type Judged struct {
	Observation
	// Attributes are the paths that the decision is about; none for the object itself.
	Attributes []string
	Decision   Decision
	// Since is when the first of them was seen.
	Since time.Time
	// Grant is the grant that holds them, or "".
	Grant string
	// Word is the subject of the word by which a person holds them, HeldBy the person, or "".
	Word, HeldBy string
	// Writes are the other writer's changes, by path, where correction stopped.
	Writes map[string][]Write
}

// Digest stands for a value where the value itself must not be.
type Digest func(cty.Value) string

// Judge decides about drift and returns what to remember for the next round.
func Judge(observed []Observation, rules Rules, memory Memory, digest Digest, now time.Time) ([]Judged, Memory) {
	j := judge{rules: rules, memory: memory, next: memory.corrected(now), digest: digest, now: now}
	var out []Judged
	for i := range observed {
		out = append(out, j.object(&observed[i])...)
	}
	return out, j.next
}

type judge struct {
	rules        Rules
	memory, next Memory
	digest       Digest
	now          time.Time
}

// verdict is what paths of one object must have in common to be told of together.
type verdict struct {
	decision Decision
	grant    string
	word, by string
}

// object decides about each path of an object and groups them by what was decided.
func (j *judge) object(o *Observation) []Judged {
	scope := ScopeOf(j.rules.Scopes, o.Object)
	groups := map[verdict]*Judged{}
	for _, path := range o.paths() {
		v, known := j.path(o, scope, path)
		group := groups[v]
		if group == nil {
			group = &Judged{Observation: *o, Decision: v.decision, Grant: v.grant, Word: v.word, HeldBy: v.by, Since: known.Since}
			groups[v] = group
		}
		group.add(path, known)
	}
	byVerdict := func(a, b verdict) int {
		return cmp.Or(cmp.Compare(a.decision, b.decision), cmp.Compare(a.grant, b.grant), cmp.Compare(a.word, b.word), cmp.Compare(a.by, b.by))
	}
	var out []Judged
	for _, v := range slices.SortedFunc(maps.Keys(groups), byVerdict) {
		out = append(out, *groups[v])
	}
	return out
}

func (g *Judged) add(path string, known Remembered) {
	if known.Since.Before(g.Since) {
		g.Since = known.Since
	}
	if path != "" {
		g.Attributes = append(g.Attributes, path)
	}
	if g.Decision == Stopped {
		if g.Writes == nil {
			g.Writes = map[string][]Write{}
		}
		g.Writes[path] = known.Writes
	}
}

// path decides about one attribute and remembers what is needed for the next time.
func (j *judge) path(o *Observation, scope *control.Scope, path string) (verdict, Remembered) {
	known := j.memory[o.Object.Address][path]
	known.see(j.now, j.digest(objchange.ValueAt(o.Real, path)))
	var v verdict
	if grant := j.rules.covering(scope, o.Object, path); grant != nil {
		known.Grant, known.After = grant.ID, grant.After
		v = verdict{decision: Held, grant: grant.ID}
	} else {
		v = known.held(decide(scope, o, path, known, j.now))
	}
	if v.decision == Corrected {
		v.decision = known.correct(scope, j.now)
	}
	j.next.set(o.Object.Address, path, known)
	return v, known
}

// maxWrites bounds what is remembered of another writer.
const maxWrites = 20

// see notes that an attribute has drifted to a value.
func (r *Remembered) see(now time.Time, value string) {
	if again := r.Since.IsZero(); again || len(r.Writes) == 0 || r.Writes[len(r.Writes)-1].Value != value {
		r.Writes = append(slices.Clone(r.Writes[max(0, len(r.Writes)-maxWrites+1):]), Write{now, value})
	}
	if r.Since.IsZero() || r.Since.After(now) {
		r.Since = now // a clock that was set back: the grace time must not last until it has caught up
	}
}

// held lets a person's word wait what would be corrected now or later. The word ends with
// the value that it was about.
func (r *Remembered) held(decision Decision) verdict {
	if r.Hold != nil && r.Hold.Value != r.Writes[len(r.Writes)-1].Value {
		r.Hold = nil
	}
	if r.Hold == nil || decision != Corrected && decision != InGrace {
		return verdict{decision: decision}
	}
	return verdict{decision: Held, word: r.Hold.Subject, by: r.Hold.By}
}

// correct notes a correction, unless another writer keeps undoing them: then it stops
// until that is over, or until a person says so.
func (r *Remembered) correct(scope *control.Scope, now time.Time) Decision {
	rule := control.DefaultOscillation
	if o := scope.Drift.Oscillation; o != nil {
		rule = *o
	}
	within := time.Duration(rule.Within)
	last := r.Writes[len(r.Writes)-1].At
	r.Until = now.Add(within)
	lately := slices.DeleteFunc(slices.Clone(r.Corrections), func(at time.Time) bool {
		return at.Before(last.Add(-within)) || at.Before(rule.Resumed)
	})
	if len(lately) >= rule.Times && now.Before(last.Add(within)) {
		return Stopped
	}
	if n := len(lately); n == 0 || lately[n-1].Before(last) {
		lately = append(lately, now)
	}
	r.Corrections = lately
	return Corrected
}

func (m Memory) set(addr, path string, known Remembered) {
	if m[addr] == nil {
		m[addr] = map[string]Remembered{}
	}
	m[addr][path] = known
}

// Forget drops what is known of an attribute.
func (m Memory) Forget(addr, path string) { delete(m[addr], path) }

// corrected is what remains of the memory where nothing drifts: what was corrected
// lately.
func (m Memory) corrected(now time.Time) Memory {
	out := Memory{}
	for addr, paths := range m {
		for path, known := range paths {
			if known.Until.After(now) {
				out.set(addr, path, Remembered{Writes: known.Writes, Corrections: known.Corrections, Until: known.Until})
			}
		}
	}
	return out
}

// decide applies a scope's policy. What the last grant's policy chose for its end never has
// corrected what the scope does not correct on its own: a grant gives nobody more than that.
func decide(scope *control.Scope, o *Observation, path string, known Remembered, now time.Time) Decision {
	if scope == nil {
		return Observed
	}
	mode, grace := policy(scope, o.Object, path)
	switch {
	case o.Replaced && path == "":
		return Accepted
	case known.After == control.AfterHold: // of the attribute: correcting a later change would undo what was mended as well
		return Held
	case mode != control.DriftEnforce && mode != control.DriftPropose:
		return Observed
	case known.After == control.AfterPropose || mode == control.DriftPropose:
		return Proposed
	case known.After == control.AfterRevert: // people knew of it for as long as the grant was open
		return Corrected
	case now.Sub(known.Since) < grace:
		return InGrace
	default:
		return Corrected
	}
}

// policy returns what a scope does about the drift of an attribute.
func policy(scope *control.Scope, object control.Object, path string) (control.DriftMode, time.Duration) {
	for _, rule := range scope.Drift.Rules {
		if names(rule.Attributes, object, path) {
			return rule.Mode, time.Duration(rule.Grace)
		}
	}
	return scope.Drift.Mode, time.Duration(scope.Drift.Grace)
}

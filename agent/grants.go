package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/guard"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/repository"
)

// grantBook is where the files about grants are: in the store, as it was read last, and
// in the folder on this machine, to which people write when the store cannot be
// reached. Provider calls look into it while a round changes things.
type grantBook struct {
	folder repository.GrantFolder
	mu     sync.Mutex
	stored repository.GrantFiles
	// readings counts how often the store was read.
	readings int
	// blocked are the keys of files here of which it was said that the store has
	// something else there. Only rounds use it.
	blocked map[string]bool
}

func (b *grantBook) take(stored repository.GrantFiles) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stored = stored
	b.readings++
}

func (b *grantBook) taken() repository.GrantFiles {
	stored, _ := b.takenAt()
	return stored
}

// takenAt is what the store held, and which reading of it that was.
func (b *grantBook) takenAt() (stored repository.GrantFiles, reading int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stored, b.readings
}

// seenGrant is what is remembered of a grant.
type seenGrant struct {
	// Until is its end as this agent has seen it; Ended when it ended, by this agent's clock.
	Until time.Time `json:"until"`
	Ended time.Time `json:"ended,omitzero"`
	// Last is the latest end that its policy allows.
	Last time.Time `json:"last"`
	// Warned tells that it was said that an extension came too late.
	Warned bool `json:"warned,omitempty"`
	// Open tells that it was in force in an earlier round, and that its end was not told yet.
	Open   bool          `json:"open,omitempty"`
	Policy string        `json:"policy,omitempty"`
	Opener string        `json:"opener,omitempty"`
	User   string        `json:"user,omitempty"`
	After  control.After `json:"after,omitempty"`
	// Changed is what was seen to differ since it was opened.
	Changed []control.GrantChange `json:"changed,omitempty"`
	// Reminded is the end of which people were reminded.
	Reminded time.Time `json:"reminded,omitzero"`
}

// readGrants finds the grants in force, by what the store and this machine hold. Without
// the store those on this machine count: what was in force when it was last read is
// among them.
func (r *round) readGrants(ctx context.Context) error {
	a := r.agent
	fresh := false
	if r.fresh {
		ctx, cancel := context.WithTimeout(ctx, storeTimeout)
		defer cancel()
		stored, err := repository.ReadGrants(ctx, a.store, r.declared)
		if fresh = err == nil; fresh {
			a.grants.take(stored)
		} else {
			r.warn("Grants not readable", fmt.Sprintf("Break-glass grants could not be read: %s. Those known stay in force until their end.", err))
		}
		defer func() { r.exchangeGrants(ctx, fresh) }()
	}
	here := r.grantsHere()
	records := a.grants.taken().With(here).Records(a.config.Environment, r.declared.Policies, a.now())
	r.warnOfGrants(records, here)
	r.grants = r.inForce(records)
	r.waiting = waitingOf(records)
	r.inSlack = r.shownInSlack(records)
	r.rememberGrants(records, fresh)
	if fresh {
		a.memory.Clicked = a.clicksToKeep(records)
	}
	return nil
}

// grantsHere reads the folder on this machine, and says what in it counts for nothing.
func (r *round) grantsHere() repository.GrantFiles {
	here, refused, err := r.agent.grants.folder.Read()
	if err != nil {
		r.warn("Grants on this machine not readable", fmt.Sprintf("%s. Grants that are in the store only count.", err))
	}
	for _, why := range refused {
		r.warn("File about a grant not usable", fmt.Sprintf("%s. It counts for nothing; remove it.", why))
	}
	return here
}

// warnOfGrants names what people have put on this machine that grants nothing.
func (r *round) warnOfGrants(records []repository.GrantRecord, here repository.GrantFiles) {
	for _, record := range records {
		for _, file := range here[record.ID] {
			switch {
			case record.Refusal != nil:
				r.warn("Grant on this machine does not hold", fmt.Sprintf("Grant %s grants nothing: %s. It is not uploaded; remove its files from %s.", record.ID, record.Refusal, r.agent.grants.folder.Path()))
			case !r.counts(record, file):
				r.warn("Grant on this machine does not hold", fmt.Sprintf("%s of grant %s is signed by somebody who is not one of the approvers of policy %s. It counts for nothing; remove it from %s.", file.Key, record.ID, record.Grant.Request.Policy, r.agent.grants.folder.Path()))
				continue
			default:
				continue
			}
			break
		}
	}
}

// counts tells whether a file is by one of those whose word counts for its grant.
func (r *round) counts(record repository.GrantRecord, file repository.SignedFile) bool {
	_, signer, _ := control.ParseGrantKey(r.agent.config.Environment, file.Key)
	return signer == "" || r.declared.Policies[record.Grant.Request.Policy].Approves(signer)
}

// settled is a grant as this agent takes it: what it has seen end stays ended. An
// extension that comes later would open a closed window again, whatever time it was
// signed with, and so would a closure that was removed.
func (a *Agent) settled(grant control.Grant) (settled control.Grant, late bool) {
	seen, known := a.memory.Grants[grant.Request.ID]
	switch {
	case !known || !grant.Ended.IsZero():
		return grant, false
	case !seen.Ended.IsZero():
		grant.Ended = seen.Ended
	case !a.now().Before(seen.Until):
		grant.Ended = seen.Until
	default:
		return grant, false
	}
	grant.Phase = control.GrantExpired
	return grant, true
}

// inForce are the grants of some records that hold now.
func (r *round) inForce(records []repository.GrantRecord) []guard.OpenGrant {
	var out []guard.OpenGrant
	for _, record := range records {
		grant, _ := r.agent.settled(record.Grant)
		if record.Refusal != nil || grant.Phase != control.GrantOpen {
			continue
		}
		policy, request := r.declared.Policies[grant.Request.Policy], grant.Request
		out = append(out, guard.OpenGrant{ID: request.ID, Policy: request.Policy, Targets: request.Targets, Opened: request.Opened, Until: request.Until, After: policy.After, Scopes: policy.Scopes, Opener: request.Opener, User: grant.User})
	}
	return out
}

// waitingOf are the grants that need approval.
func waitingOf(records []repository.GrantRecord) []control.Grant {
	var out []control.Grant
	for _, record := range records {
		if record.Refusal == nil && record.Grant.Phase == control.GrantPending {
			out = append(out, record.Grant)
		}
	}
	return out
}

// rememberGrants notes the ends of grants. What nobody holds any more, and could not be
// extended, is forgotten.
func (r *round) rememberGrants(records []repository.GrantRecord, fresh bool) {
	a := r.agent
	next := map[string]seenGrant{}
	if !fresh {
		maps.Copy(next, a.memory.Grants)
	}
	for id, seen := range a.memory.Grants {
		if seen.Open || a.now().Before(seen.Last) {
			next[id] = seen
		}
	}
	for _, record := range records {
		if record.Refusal != nil {
			continue
		}
		grant, late := a.settled(record.Grant)
		seen := a.memory.Grants[record.ID]
		if late && !seen.Warned {
			seen.Warned = true
			r.warn("Extension of a grant came too late", fmt.Sprintf("Grant %s had ended at %s when this agent first saw what would have kept it open. What has ended stays so; open another with: towline break-glass open.", record.ID, grant.Ended.Format(time.RFC3339)))
		}
		if !late {
			seen.Until = grant.Request.Until
		}
		seen.Ended = grant.Ended
		seen.Last = r.lastEnd(grant)
		next[record.ID] = seen
	}
	a.memory.Grants = next
}

// lastEnd is the latest end that its policy allows a grant.
func (r *round) lastEnd(grant control.Grant) time.Time {
	return grant.Request.Opened.Add(time.Duration(r.declared.Policies[grant.Request.Policy].MaxDuration))
}

// exchangeGrants has the store hold what people have written on this machine, and this
// machine what is in force, for when the store is away. Here is removed only what the
// store was seen to hold, and what has ended.
func (r *round) exchangeGrants(ctx context.Context, fresh bool) {
	if !fresh {
		return
	}
	a := r.agent
	here, _, err := a.grants.folder.Read()
	if err != nil {
		return // it was said
	}
	maps.DeleteFunc(a.grants.blocked, func(key string, _ bool) bool { return !here.HasKey(key) })
	stored := a.grants.taken()
	for _, record := range stored.With(here).Records(a.config.Environment, r.declared.Policies, a.now()) {
		if record.Refusal != nil {
			continue
		}
		r.uploadGrant(ctx, record, here, stored)
		grant, _ := a.settled(record.Grant)
		if grant.Ended.IsZero() {
			r.keepGrant(record, here, stored)
			continue
		}
		for _, file := range here[record.ID] {
			if !stored.Holds(record.ID, file) {
				continue
			}
			r.dropGrant(file)
		}
	}
}

// dropGrant removes a file from this machine.
func (r *round) dropGrant(file repository.SignedFile) {
	if err := r.agent.grants.folder.Remove(file.Key); err != nil {
		r.agent.log.Warn("file about a grant not removed", "error", err)
	}
}

// uploadGrant writes what the store does not hold to where everybody writes it.
func (r *round) uploadGrant(ctx context.Context, record repository.GrantRecord, here, stored repository.GrantFiles) {
	a := r.agent
	for _, file := range here[record.ID] {
		if stored.Holds(record.ID, file) || !r.counts(record, file) {
			continue
		}
		switch _, err := a.store.PutIfAbsent(ctx, file.Key, file.Data); {
		case err == nil:
			a.log.Info("grant uploaded", "key", file.Key)
		case errors.Is(err, objstore.ErrExist):
			r.heedBlocked(ctx, record, file)
		default:
			r.warn("Grant not uploaded", fmt.Sprintf("%s, which was signed on this machine, is not in the store yet: %s. It counts here, and is uploaded later.", file.Key, err))
		}
	}
}

// heedBlocked sees to a file whose place in the store is taken. If its signer said the same
// there, the store's word is enough once the grant has ended. Anything else there is told of
// once, and the file kept for as long as its grant could be open.
func (r *round) heedBlocked(ctx context.Context, record repository.GrantRecord, file repository.SignedFile) {
	a := r.agent
	there, err := a.store.Get(ctx, file.Key, control.MaxDocument)
	request := file.Key == control.GrantRequestKey(a.config.Environment, record.ID)
	grant, _ := a.settled(record.Grant)
	switch {
	case err == nil && bytes.Equal(there.Data, file.Data): // another has uploaded it since
	case err == nil && !request && control.CheckGrantFile(a.config.Environment, file.Key, there.Data) == nil:
		if !grant.Ended.IsZero() {
			r.dropGrant(file)
		}
	case !grant.Ended.IsZero() && !a.now().Before(r.lastEnd(grant)):
		r.dropGrant(file)
	case !a.grants.blocked[file.Key]:
		if a.grants.blocked == nil {
			a.grants.blocked = map[string]bool{}
		}
		a.grants.blocked[file.Key] = true
		counts := "It counts on this machine and nowhere else. Find out who wrote what is there: once that is removed from the store, this is uploaded"
		if request && !bytes.Equal(record.Files.Request, file.Data) {
			counts = fmt.Sprintf("It counts for nothing, because the request that is there holds. Remove it from %s, and open a grant under another name", a.grants.folder.Path())
		}
		r.warn("Grant cannot be uploaded", fmt.Sprintf("%s, which was signed on this machine, is not in the store, which has something else under that key. %s. This is said once.", file.Key, counts))
	}
}

// keepGrant copies what is in force to this machine.
func (r *round) keepGrant(record repository.GrantRecord, here, stored repository.GrantFiles) {
	a := r.agent
	for _, file := range stored[record.ID] {
		if file.Click != nil {
			continue // the agent's memory keeps it
		}
		taken := slices.ContainsFunc(here[record.ID], func(there repository.SignedFile) bool { return there.Key == file.Key })
		if taken || !r.counts(record, file) || control.CheckGrantFile(a.config.Environment, file.Key, file.Data) != nil {
			continue
		}
		if err := a.grants.folder.Add(file); err != nil {
			r.warn("Grant not kept on this machine", fmt.Sprintf("Without the store grant %s would not hold: %s.", record.ID, err))
			return
		}
	}
}

// judgedGrants are the grants as they were judged last in a round, and what by: as long as
// neither the store's files nor those on this machine are others, only time can change
// what they come to. Whoever closes a grant adds a file.
type judgedGrants struct {
	mu      sync.Mutex
	reading int
	here    repository.GrantListing
	at      time.Time
	records []repository.GrantRecord
}

// rejudgeAfter is the longest time for which a judgement holds: what is refused because
// it was signed by a clock that is ahead is not refused for ever.
const rejudgeAfter = 10 * time.Second

// hold tells whether the judgement is still the one that would be made.
func (j *judgedGrants) hold(reading int, here repository.GrantListing, now time.Time) bool {
	return j.reading == reading && !now.Before(j.at) && now.Sub(j.at) < rejudgeAfter && j.here.Same(here)
}

// grantsNow are the grants in force at this moment, for the call that is about to be made.
// Signatures are verified again only where something has changed.
func (r *round) grantsNow() []guard.OpenGrant {
	a, now := r.agent, r.agent.now()
	stored, reading := a.grants.takenAt()
	listing, listErr := a.grants.folder.List() // before the files are read
	r.judgedGrants.mu.Lock()
	defer r.judgedGrants.mu.Unlock()
	if listErr == nil && r.judgedGrants.hold(reading, listing, now) {
		return r.inForce(recordsAt(r.judgedGrants.records, now))
	}
	here, _, err := a.grants.folder.Read()
	if err != nil {
		here = nil // a round says so
	}
	records := stored.With(here).Records(a.config.Environment, r.declared.Policies, now)
	if listErr == nil && err == nil {
		r.judgedGrants.reading, r.judgedGrants.here, r.judgedGrants.at, r.judgedGrants.records = reading, listing, now, records
	}
	return r.inForce(records)
}

// recordsAt are records at a later time than they were judged at.
func recordsAt(records []repository.GrantRecord, now time.Time) []repository.GrantRecord {
	out := slices.Clone(records)
	for i := range out {
		out[i].Grant = out[i].Grant.At(now)
	}
	return out
}

// renewGrants looks once more, before drift is judged: reading real objects can take long.
func (r *round) renewGrants() (changed bool) {
	before := r.grants
	r.grants = r.grantsNow()
	return !reflect.DeepEqual(before, r.grants)
}

// grantsEvery is how often the store is asked for grants while a round changes things.
const grantsEvery = 10 * time.Second

// watchGrants asks the store for grants until the caller is done, so that one that is
// opened while a long round changes things holds for what comes next.
func (r *round) watchGrants(ctx context.Context) (done func()) {
	a := r.agent
	if !r.fresh {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var ended sync.WaitGroup
	ended.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(grantsEvery):
			}
			bounded, cancel := context.WithTimeout(ctx, storeTimeout)
			stored, err := repository.ReadGrants(bounded, a.store, r.declared)
			cancel()
			if err == nil {
				a.grants.take(stored)
			}
		}
	})
	return func() {
		cancel()
		ended.Wait()
	}
}

package agent

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/lease"
	"github.com/towline/terraform-provider-towline/internal/objstore"
)

// errStandby ends a round of an agent that waits for another one's end.
var errStandby = errors.New("standing by")

// followed tells whether another agent of the shard may take over from this one.
func (r *round) followed() bool {
	for name, other := range r.declared.Agents {
		if name != r.self.Name && control.StandIns(other, r.self) {
			return true
		}
	}
	return false
}

func (r *round) applicant() lease.Applicant {
	who := lease.Applicant{Shard: r.agent.shard, Name: r.agent.holder()}
	if r.followed() {
		who.Period = control.Duration(r.self.Period())
	}
	return who
}

// acquire takes the lease: the agent's own, that of an agent that has ended, or that of
// an earlier enrolment, whose key is void since the claim of the new generation. Who has
// not seen that the claim is its own takes it from nobody: it may be the earlier one.
func (r *round) acquire(ctx context.Context) (*lease.Lease, error) {
	a := r.agent
	held, err := lease.Acquire(ctx, a.store, r.applicant(), a.now())
	if errors.Is(err, lease.ErrHeld) && r.enrolled {
		held, err = r.takeOver(ctx)
	}
	if err != nil || held.Epoch == a.memory.Epoch || held.Epoch == 1 {
		return held, err
	}
	former, err := lease.At(ctx, a.store, a.shard, held.Epoch-1)
	if err != nil {
		return nil, err
	}
	return held, r.ended(ctx, former)
}

// takeOver takes the epoch after that of a holder of whom nothing was heard for long enough.
func (r *round) takeOver(ctx context.Context) (*lease.Lease, error) {
	a := r.agent
	holder, ok, err := lease.Current(ctx, a.store, a.shard)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, fmt.Errorf("%w: the lease that was held a moment ago is gone", objstore.ErrUnavailable)
	}
	name := agentOf(holder.Holder)
	if other, ok := r.declared.Agents[name]; ok && other.Shard == r.self.Shard && !control.StandIns(other, r.self) {
		return nil, fmt.Errorf("agent %s holds the lease of this shard and has other scopes, so that this one cannot stand in for it; give this one a shard of its own, or both the same scopes", name)
	}
	a.stepDown(fmt.Errorf("%w: %s, epoch %d", lease.ErrFenced, name, holder.Epoch))
	if err := r.silent(ctx, holder); err != nil {
		return nil, err
	}
	if err := r.rehearse(ctx, holder); err != nil {
		return nil, fmt.Errorf("agent %s has ended, and this one cannot take over from it: %w", name, err)
	}
	held, err := lease.TakeOver(ctx, a.store, r.applicant(), holder, a.now())
	switch {
	case errors.Is(err, lease.ErrHeld):
		return nil, fmt.Errorf("%w: another agent was faster to take over from %s", errStandby, name)
	case err == nil:
		a.log.Info("lease taken over", "from", holder.Holder, "epoch", held.Epoch)
	}
	return held, err
}

// rehearse finds out whether what is to be taken up can be read: who only held the lease would
// keep it from those who can go on.
func (r *round) rehearse(ctx context.Context, holder lease.Record) error {
	a := r.agent
	keys := a.writers(ctx, r.declared)
	batches, err := a.readJournal(ctx, keys)
	if err != nil {
		return err
	}
	stored, doubtful, err := a.newestState(ctx, keys, true)
	if err != nil {
		return err
	}
	var from stateName
	switch {
	case stored != nil:
		from = stored.stateName
	case doubtful > 0 && a.memory.Serial == 0:
		return fmt.Errorf("the store holds no state that an agent of the environment has signed, but %d others", doubtful)
	}
	if err := a.refuseUnknown(ctx, holder, keys, from); err != nil {
		return err
	}
	_, err = a.entriesAfter(ctx, batches, from)
	return err
}

// refuseUnknown returns an error if a holder has left something that is not believed, because
// no declared agent has its key any more: what is older would be gone on from, and what the
// holder has made would be made again. A person who has put a state here knows better.
func (a *Agent) refuseUnknown(ctx context.Context, holder lease.Record, keys []ed25519.PublicKey, from stateName) error {
	byHand := !a.known && a.memory.Serial > 0
	if byHand || from.epoch >= holder.Epoch || slices.ContainsFunc(keys, func(key ed25519.PublicKey) bool {
		return strings.HasSuffix(holder.Holder, "/"+control.KeyID(key))
	}) {
		return nil
	}
	states, err := a.listStates(ctx)
	if err != nil {
		return err
	}
	batches, err := a.listBatches(ctx)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(states, func(s stateName) bool { return s.epoch == holder.Epoch }) ||
		slices.ContainsFunc(batches, func(b batchName) bool { return b.epoch == holder.Epoch }) {
		return a.refuseState(fmt.Sprintf("what %s has left under epoch %d cannot be believed, because it is not declared any more; declare it again as it was until this one has taken over", holder.Holder, holder.Epoch))
	}
	return nil
}

// ended returns an error unless the holder of the epoch before this agent's has ended its
// work: its last word is not one to followers, or nothing was heard of it for long
// enough. A word that came between the last look and the taking may have counted.
func (r *round) ended(ctx context.Context, former lease.Record) error {
	word, err := r.lastWord(ctx, former)
	if err != nil {
		return err
	}
	if word.beat != nil && (word.beat.Tenure == nil || word.beat.Tenure.Epoch != former.Epoch) {
		return nil
	}
	return r.waitFor(ctx, former, word)
}

// silent returns an error unless nothing was heard of a holder for so long that it may
// change nothing any more.
func (r *round) silent(ctx context.Context, holder lease.Record) error {
	word, err := r.lastWord(ctx, holder)
	if err != nil {
		return err
	}
	return r.waitFor(ctx, holder, word)
}

func (r *round) waitFor(ctx context.Context, holder lease.Record, last word) error {
	a := r.agent
	name, period := agentOf(holder.Holder), last.period(holder)
	switch {
	case period == 0 && name == a.config.Agent:
		return nil // it knew of no successor, and its key is void
	case period == 0 && r.void(ctx, holder):
		period = r.self.Period()
	case period == 0:
		return fmt.Errorf("%w: agent %s holds the lease (epoch %d) and has not said yet that it may be followed; if its machine is gone for good, raise join_token_version of its towline_agent and apply", errStandby, name, holder.Epoch)
	}
	a.awaited = &awaited{holder, period}
	if passed := a.watch.Look(holder.Epoch, last.version, last.before, a.now()); passed < lease.Silence(period) {
		return fmt.Errorf("%w: agent %s holds the lease (epoch %d); this one takes over %s after its last word", errStandby, name, holder.Epoch, lease.Silence(period))
	}
	return nil
}

// void tells whether a holder's enrolment has ended: it is not declared any more, for this
// shard, or another machine is to take its place.
func (r *round) void(ctx context.Context, holder lease.Record) bool {
	declared, known := r.declared.Agents[agentOf(holder.Holder)]
	if !known || declared.Shard != r.self.Shard {
		return true
	}
	key, enrolled := r.agent.enrolledKey(ctx, declared, declared.Join)
	if !enrolled {
		_, err := r.agent.store.Stat(ctx, control.ClaimKey(declared.Environment, declared.Name, declared.Join.Generation))
		return errors.Is(err, objstore.ErrNotExist) && declared.Join.Generation > 1
	}
	return holder.Holder != declared.Name+"/"+control.KeyID(key)
}

// word is the latest heartbeat of a holder. Any other content counts as another word,
// whoever wrote it: who is not sure waits.
type word struct {
	version objstore.Version
	// before is from before it was read.
	before time.Time
	// beat is nil unless an agent of the environment has signed it.
	beat *control.Heartbeat
}

// period is how often the holder has promised a word; 0 if it has promised none.
func (w word) period(holder lease.Record) time.Duration {
	if w.beat != nil && w.beat.Tenure != nil && w.beat.Tenure.Epoch == holder.Epoch {
		return time.Duration(w.beat.Tenure.Period)
	}
	return time.Duration(holder.Period)
}

func (r *round) lastWord(ctx context.Context, holder lease.Record) (word, error) {
	a := r.agent
	name := agentOf(holder.Holder)
	last := word{before: a.now()}
	object, err := a.store.Get(ctx, control.HeartbeatKey(a.config.Environment, name), control.MaxDocument)
	switch {
	case errors.Is(err, objstore.ErrNotExist):
		return last, nil
	case err != nil:
		return word{}, fmt.Errorf("listen to agent %s: %w", name, err)
	}
	last.version = object.Version
	for _, key := range a.writers(ctx, r.declared) {
		beat, err := control.Open[control.Heartbeat](object.Data, key)
		if err == nil && beat.Environment == a.config.Environment && beat.Agent == name {
			last.beat = &beat
			break
		}
	}
	return last, nil
}

// awaited is the holder that an agent on standby listens to.
type awaited struct {
	lease.Record
	period time.Duration
}

// listen looks for the awaited holder's next word and tells whether it is time for a
// round: the holder has been silent for long enough, or is not the holder any more.
func (a *Agent) listen(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	before := a.now()
	var word objstore.Version
	key := control.HeartbeatKey(a.config.Environment, agentOf(a.awaited.Holder))
	knock(ctx, a.store, lease.Glance(a.awaited.period), key)
	object, err := a.store.Get(ctx, key, control.MaxDocument)
	switch {
	case err == nil:
		word = object.Version
	case !errors.Is(err, objstore.ErrNotExist):
		return false
	}
	return a.watch.Look(a.awaited.Epoch, word, before, a.now()) >= lease.Silence(a.awaited.period)
}

// stepDown ends whatever this agent did under an epoch that it has lost. What it did
// is in the store, for its successor; its receipts are still sent.
func (a *Agent) stepDown(why error) {
	a.voice.quiet()
	a.tenure.Fence(why)
	if a.lease == nil && a.memory.Bound {
		return
	}
	if a.memory.Epoch > 0 {
		a.log.Warn("another agent has taken over; this one stands by", "epoch", a.memory.Epoch, "why", why)
	}
	a.lease, a.memory.Bound = nil, true
	if err := a.memory.save(a.config.DataDir); err != nil {
		a.log.Error("memory not saved", "error", err)
	}
}

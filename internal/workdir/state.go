package workdir

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"github.com/towline/terraform-provider-towline/internal/backend"
	"github.com/towline/terraform-provider-towline/internal/journal"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// DefaultStateFile is the name of the state file in a working directory.
const DefaultStateFile = "terraform.tfstate"

// lockPoll is how often a taken lock is tried again.
const lockPoll = 500 * time.Millisecond

// Options say how a state is opened.
type Options struct {
	// Operation is for the message that others get while the lock is held.
	Operation string
	// NoLock excludes nobody. LockTimeout is how long a taken lock is waited for.
	NoLock      bool
	LockTimeout time.Duration
	// LookOnly is for verbs that write no state. Together with NoLock it leaves the
	// journal to whoever may be writing it: nothing is saved, and Journal is nil.
	LookOnly bool
	// Journal is the file for changes under way.
	Journal string
	// Backup is where the previous state file is kept; "" keeps none.
	Backup string
	// Out is where the state is written, if not to where it was read from.
	Out backend.Store
}

// State is a workspace's state, locked until Close.
type State struct {
	// KeepEmpty has an empty state written even if there was none, as after an apply
	// that had nothing to do.
	KeepEmpty bool
	store     backend.Store
	opts      Options
	lockID    string // "" if nothing is locked
	written   []byte // the state file's content as last read or written
	backedUp  bool

	// State is the recorded state with the journal's results in it.
	State *states.State
	// Open are calls of which nobody knows how they ended.
	Open []journal.Intent
	// Journal takes changes under way.
	Journal *journal.Journal
}

// Open locks and reads the state in a store.
func Open(ctx context.Context, store backend.Store, opts Options) (*State, tfdiags.Diagnostics) {
	s := &State{store: store, opts: opts}
	if !opts.NoLock {
		if diags := s.lock(ctx); diags.HasErrors() {
			return nil, diags
		}
	}
	diags := s.load(ctx)
	if diags.HasErrors() {
		return nil, append(diags, tfdiags.FromError("Failed to unlock state", s.Close())...)
	}
	return s, diags
}

// Read reads the state in a store without locking it. No state is an empty one.
func Read(ctx context.Context, store backend.Store) (*states.State, tfdiags.Diagnostics) {
	data, err := store.Read(ctx)
	if err != nil {
		return nil, tfdiags.FromError("Failed to read state", err)
	}
	return states.Decode(data)
}

// ReadState reads the state file at path without locking it. A file that is not
// there is an empty state.
func ReadState(path string) (*states.State, tfdiags.Diagnostics) {
	return Read(context.Background(), backend.File(path))
}

// lock takes the lock, waiting for whoever holds it as long as the options say.
func (s *State) lock(ctx context.Context) tfdiags.Diagnostics {
	ctx, cancel := context.WithTimeout(ctx, max(s.opts.LockTimeout, time.Minute))
	defer cancel()
	info := backend.NewLockInfo(s.opts.Operation, states.TerraformVersion)
	until := time.Now().Add(s.opts.LockTimeout)
	for {
		err := s.store.Lock(ctx, info)
		if err == nil {
			s.lockID = info.ID
			return nil
		}
		var taken *backend.LockError
		if !errors.As(err, &taken) || !time.Now().Before(until) {
			return lockedDiagnostic(s.store, err)
		}
		select {
		case <-ctx.Done():
			return lockedDiagnostic(s.store, err)
		case <-time.After(min(lockPoll, time.Until(until))):
		}
	}
}

func lockedDiagnostic(store backend.Store, err error) tfdiags.Diagnostics {
	return tfdiags.New(tfdiags.Error, "Error acquiring the state lock",
		fmt.Sprintf("The state %s cannot be locked: %s. Wait for whoever holds the lock to end, with -lock-timeout if you like. If that process is gone and left its lock behind, remove it with \"towline force-unlock LOCK_ID\".", store, err))
}

// load reads the state and the journal beside it.
func (s *State) load(ctx context.Context) tfdiags.Diagnostics {
	data, err := s.store.Read(ctx)
	if err != nil {
		return tfdiags.FromError("Failed to read state", err)
	}
	s.written = data
	var diags tfdiags.Diagnostics
	if s.State, diags = states.Decode(data); diags.HasErrors() {
		return diags
	}
	if s.opts.NoLock && s.opts.LookOnly {
		return append(diags, s.look()...)
	}
	if err := os.MkdirAll(filepath.Dir(s.opts.Journal), 0o755); err != nil {
		return append(diags, tfdiags.FromError("Failed to open journal", err)...)
	}
	j, entries, err := journal.Open(s.opts.Journal)
	if err != nil {
		return append(diags, tfdiags.FromError("Failed to open journal", err)...)
	}
	s.Journal = j
	if s.Open, err = journal.Replay(s.State, entries); err != nil {
		return append(diags, tfdiags.FromError("Failed to read journal", err)...)
	}
	if len(entries) == 0 {
		return diags
	}
	// The serial rises with what the journal adds, so that a plan from before it
	// is refused instead of being made true twice.
	return append(diags, tfdiags.FromError("Failed to save state", s.Keep(s.Open))...)
}

// look takes the journal's results into the state without touching any file. Calls
// that did not end may well be under way, so they are no open questions.
func (s *State) look() tfdiags.Diagnostics {
	entries, err := journal.Read(s.opts.Journal)
	if err == nil {
		_, err = journal.Replay(s.State, entries)
	}
	return tfdiags.FromError("Failed to read journal", err)
}

// Save writes a state if it differs from the file, with a higher serial, and
// empties the journal, of which everything is in the state now but for the calls
// that no answer came to.
func (s *State) Save(state *states.State) error { return s.Settle(state, s.Journal.Pending()) }

// Keep writes the state with the journal's results and leaves only the given
// intents open.
func (s *State) Keep(open []journal.Intent) error { return s.Settle(s.State, open) }

// Settle is Save with the intents that stay open, as the caller knows them.
func (s *State) Settle(state *states.State, open []journal.Intent) error {
	if err := s.write(state); err != nil {
		return err
	}
	s.State, s.Open = state, open
	return s.Journal.Reset(open...)
}

// Push writes a state with its own lineage and serial. The serial rises by one if
// the state records something else than before.
func (s *State) Push(state *states.State) error {
	if !sameContent(state, s.State) {
		state.Serial++
	}
	var buf bytes.Buffer
	if err := states.Write(&buf, state); err != nil {
		return err
	}
	if bytes.Equal(buf.Bytes(), s.written) {
		return nil
	}
	return s.put(buf.Bytes())
}

// sameContent tells whether two states record the same.
func sameContent(a, b *states.State) bool {
	content := func(s *states.State) []byte {
		anonymous := s.Copy()
		anonymous.Serial, anonymous.Lineage, anonymous.TerraformVersion = 0, "", ""
		var buf bytes.Buffer
		if states.Write(&buf, anonymous) != nil {
			return nil // what cannot be written is told when it is written
		}
		return buf.Bytes()
	}
	return bytes.Equal(content(a), content(b))
}

func (s *State) write(state *states.State) error {
	if state.Empty() && len(s.written) == 0 && !s.KeepEmpty {
		return nil
	}
	if state.Lineage == "" {
		state.Lineage = uuid.NewString()
	}
	state.TerraformVersion = states.TerraformVersion
	var buf bytes.Buffer
	if err := states.Write(&buf, state); err != nil {
		return err
	}
	if bytes.Equal(buf.Bytes(), s.written) {
		return nil
	}
	state.Serial++
	buf.Reset()
	if err := states.Write(&buf, state); err != nil {
		return err
	}
	return s.put(buf.Bytes())
}

// put replaces the state file, after keeping the one before.
func (s *State) put(data []byte) error {
	// A cancelled command still has to keep what it did.
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if len(s.written) > 0 && !s.backedUp && s.opts.Backup != "" {
		if err := backend.WriteFile(s.opts.Backup, s.written); err != nil {
			return fmt.Errorf("write backup of state: %w", err)
		}
		s.backedUp = true
	}
	to := s.store
	if s.opts.Out != nil {
		to = s.opts.Out
	}
	if err := to.Write(ctx, data); err != nil {
		return err
	}
	s.written = bytes.Clone(data)
	return nil
}

// Close gives the lock back.
func (s *State) Close() error {
	var errs []error
	switch {
	case s.Journal == nil:
	case s.Journal.Empty():
		errs = append(errs, s.Journal.Remove())
	default:
		errs = append(errs, s.Journal.Close())
	}
	if s.lockID != "" {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		errs = append(errs, s.store.Unlock(ctx, s.lockID))
	}
	return errors.Join(errs...)
}

// NewState returns an empty state with a lineage of its own.
func NewState(serial uint64) *states.State {
	state := states.New()
	state.Lineage, state.Serial, state.TerraformVersion = uuid.NewString(), serial, states.TerraformVersion
	return state
}

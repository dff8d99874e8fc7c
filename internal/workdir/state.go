package workdir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sys/unix"

	"github.com/towline/terraform-provider-towline/internal/journal"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// DefaultStateFile is the name of the state file in a working directory.
const DefaultStateFile = "terraform.tfstate"

// State is a working directory's state, locked until Close.
type State struct {
	path     string
	file     *os.File // holds the lock
	written  []byte   // the state file's content as last read or written
	backedUp bool

	// State is the recorded state with the journal's results in it.
	State *states.State
	// Open are calls of which nobody knows how they ended.
	Open []journal.Intent
	// Journal takes changes under way; nil if the state was opened for reading.
	Journal *journal.Journal
}

// LockInfo says who holds a lock, in the form that terraform writes.
type LockInfo struct {
	ID        string
	Operation string
	Info      string
	Who       string
	Version   string
	Created   time.Time
	Path      string
}

// OpenState reads and locks the state file at path. operation is for the message
// that others get while the lock is held.
func OpenState(path, operation string) (*State, tfdiags.Diagnostics) {
	s := &State{path: path}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, tfdiags.FromError("Failed to open state file", err)
	}
	if err := lock(file); err != nil {
		return nil, append(lockedDiagnostic(path, err), tfdiags.FromError("Failed to close state file", file.Close())...)
	}
	s.file = file
	if diags := s.writeLockInfo(operation); diags.HasErrors() {
		return nil, append(diags, tfdiags.FromError("Failed to unlock state", s.Close())...)
	}
	diags := s.load()
	if diags.HasErrors() {
		return nil, append(diags, tfdiags.FromError("Failed to unlock state", s.Close())...)
	}
	return s, diags
}

// ReadState reads the state file at path without locking it. A file that is not
// there is an empty state.
func ReadState(path string) (*states.State, tfdiags.Diagnostics) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return states.New(), nil
	}
	if err != nil {
		return nil, tfdiags.FromError("Failed to open state file", err)
	}
	defer func() { _ = file.Close() }()
	return states.Read(file)
}

// lock takes the POSIX record lock that terraform takes, without waiting.
func lock(file *os.File) error {
	return unix.FcntlFlock(file.Fd(), unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart})
}

func lockInfoPath(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".lock.info")
}

func lockedDiagnostic(path string, err error) tfdiags.Diagnostics {
	detail := fmt.Sprintf("The state file %s is locked by another process: %s.", path, err)
	var info LockInfo
	if data, readErr := os.ReadFile(lockInfoPath(path)); readErr == nil && json.Unmarshal(data, &info) == nil {
		detail += fmt.Sprintf(" It is held by %s for %s since %s (lock ID %s).", info.Who, info.Operation, info.Created.Format(time.RFC3339), info.ID)
	}
	return tfdiags.New(tfdiags.Error, "Error acquiring the state lock", detail+" Wait for it to end; the lock goes with the process that holds it.")
}

func (s *State) writeLockInfo(operation string) tfdiags.Diagnostics {
	who := "unknown"
	if u, err := user.Current(); err == nil {
		who = u.Username
	}
	if host, err := os.Hostname(); err == nil {
		who += "@" + host
	}
	data, err := json.Marshal(LockInfo{ID: uuid.NewString(), Operation: operation, Who: who, Version: states.TerraformVersion, Created: time.Now().UTC(), Path: s.path})
	if err == nil {
		err = os.WriteFile(lockInfoPath(s.path), data, 0o600)
	}
	return tfdiags.FromError("Error acquiring the state lock", err)
}

// load reads the state and the journal beside it.
func (s *State) load() tfdiags.Diagnostics {
	data, err := io.ReadAll(io.LimitReader(s.file, states.MaxFileSize+1))
	if err != nil {
		return tfdiags.FromError("Failed to read state file", err)
	}
	s.written = data
	var diags tfdiags.Diagnostics
	if s.State, diags = states.Read(bytes.NewReader(data)); diags.HasErrors() {
		return diags
	}
	j, entries, err := journal.Open(s.path + ".journal")
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

// Save writes a state if it differs from the file, with a higher serial, and
// empties the journal, of which everything is in the state now but for the calls
// that no answer came to.
func (s *State) Save(state *states.State) error {
	var open []journal.Intent
	if s.Journal != nil {
		open = s.Journal.Pending()
	}
	return s.Settle(state, open)
}

// Keep writes the state with the journal's results and leaves only the given
// intents open.
func (s *State) Keep(open []journal.Intent) error { return s.Settle(s.State, open) }

// Settle is Save with the intents that stay open, as the caller knows them.
func (s *State) Settle(state *states.State, open []journal.Intent) error {
	if err := s.write(state); err != nil {
		return err
	}
	s.State, s.Open = state, open
	if s.Journal == nil {
		return nil
	}
	return s.Journal.Reset(open...)
}

func (s *State) write(state *states.State) error {
	if state.Empty() && len(s.written) == 0 {
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
	if len(s.written) > 0 && !s.backedUp {
		if err := s.replace(s.path+".backup", s.written, false); err != nil {
			return fmt.Errorf("write backup of state: %w", err)
		}
		s.backedUp = true
	}
	if err := s.replace(s.path, buf.Bytes(), true); err != nil {
		return fmt.Errorf("write state: %w", err)
	}
	s.written = bytes.Clone(buf.Bytes())
	return nil
}

// replace puts a file in place atomically. With keepLock the new file is locked
// before it takes the place of the one that holds the lock now.
func (s *State) replace(path string, data []byte, keepLock bool) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	fail := func(err error) error { return errors.Join(err, tmp.Close(), os.Remove(tmp.Name())) }
	if _, err := tmp.Write(data); err != nil {
		return fail(err)
	}
	if err := tmp.Sync(); err != nil {
		return fail(err)
	}
	if keepLock {
		if err := lock(tmp); err != nil {
			return fail(err)
		}
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return fail(err)
	}
	if !keepLock {
		return errors.Join(tmp.Close(), syncDir(filepath.Dir(path)))
	}
	old := s.file
	s.file = tmp
	return errors.Join(old.Close(), syncDir(filepath.Dir(path)))
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Close gives the lock back. A state file that was made only to be locked goes.
func (s *State) Close() error {
	var errs []error
	if s.Journal != nil {
		if s.Journal.Empty() {
			errs = append(errs, s.Journal.Remove())
		} else {
			errs = append(errs, s.Journal.Close())
		}
	}
	if err := os.Remove(lockInfoPath(s.path)); err != nil && !errors.Is(err, os.ErrNotExist) {
		errs = append(errs, err)
	}
	if info, err := s.file.Stat(); err == nil && info.Size() == 0 {
		errs = append(errs, os.Remove(s.path))
	}
	errs = append(errs, s.file.Close())
	return errors.Join(errs...)
}

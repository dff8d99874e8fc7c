package journal

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/towline/terraform-provider-towline/internal/states"
)

var errClosed = errors.New("journal is closed")

// Journal is an open journal file. It is safe for concurrent use. Appends that
// arrive together share one fsync.
type Journal struct {
	path string
	file *os.File

	mu      sync.Mutex
	nextID  uint64
	pending map[uint64]Intent // begun and not ended
	added   []addition
	broken  error // of a failed write, until the next Reset
	fresh   bool  // there is nothing but what the last Reset left open
	flush   chan struct{}
	closed  bool
	done    chan struct{}

	replicas replicator
}

// addition is an entry on its way to the disk, and from there to the replica.
type addition struct {
	raw    []byte
	intent bool
	// done gets what became of it, once.
	done chan error
}

// Open opens or creates the journal at path and returns what it holds. A torn
// last line, which a crash leaves, is dropped.
func Open(path string) (*Journal, []Entry, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("open journal: %w", err)
	}
	entries, size, err := read(io.LimitReader(file, maxFile))
	if err == nil {
		err = file.Truncate(size)
	}
	if err == nil {
		_, err = file.Seek(size, io.SeekStart)
	}
	if err == nil {
		err = syncDir(filepath.Dir(path))
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("read journal %s: %w", path, err), file.Close())
	}
	j := &Journal{path: path, file: file, nextID: 1, pending: map[uint64]Intent{}, flush: make(chan struct{}, 1), done: make(chan struct{})}
	for _, e := range entries {
		if e.Intent == nil {
			delete(j.pending, e.Result.ID)
			continue
		}
		j.pending[e.Intent.ID] = *e.Intent
		j.nextID = max(j.nextID, e.Intent.ID+1)
	}
	j.replicas.open()
	go j.write()
	return j, entries, nil
}

// Begin makes an intent durable and returns its ID. The provider may be called only after that.
func (j *Journal) Begin(intent Intent) (uint64, error) {
	j.mu.Lock()
	intent.ID = j.nextID
	j.nextID++
	j.mu.Unlock()
	if err := j.append(body{Intent: &intent}, intent.Prior); err != nil {
		return intent.ID, err
	}
	j.mu.Lock()
	j.pending[intent.ID] = intent
	j.mu.Unlock()
	return intent.ID, nil
}

// End makes a result durable. The intent is not pending any more, also if that fails.
func (j *Journal) End(result Result) error {
	j.mu.Lock()
	delete(j.pending, result.ID)
	j.mu.Unlock()
	return j.append(body{Result: &result}, result.Object)
}

// Pending returns the intents that were begun and not ended, in the order of their
// beginning: those of the process before, and those that no answer came to.
func (j *Journal) Pending() []Intent {
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []Intent
	for _, id := range slices.Sorted(maps.Keys(j.pending)) {
		out = append(out, j.pending[id])
	}
	return out
}

// append adds an entry and waits until it is durable.
func (j *Journal) append(b body, obj *states.Object) error {
	raw, err := encode(b, obj)
	if err != nil {
		return fmt.Errorf("encode journal entry: %w", err)
	}
	done := make(chan error, 1)
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		return errClosed
	}
	j.added, j.fresh = append(j.added, addition{raw, b.Intent != nil, done}), false
	j.mu.Unlock()
	select {
	case j.flush <- struct{}{}:
	default:
	}
	return <-done
}

// write puts batches of entries on disk, one after the other. After a failed
// write nothing more is accepted until Reset: the file's end is not known any more.
func (j *Journal) write() {
	defer close(j.done)
	var batch []byte
	for range j.flush {
		j.mu.Lock()
		added, broken, file := j.added, j.broken, j.file
		j.added = nil
		j.mu.Unlock()
		if broken == nil && len(added) > 0 {
			batch = batch[:0]
			for _, a := range added {
				batch = append(batch, a.raw...)
			}
			broken = j.put(file, batch)
			j.mu.Lock()
			j.broken = broken
			j.mu.Unlock()
		}
		if broken == nil {
			j.replicas.add(added)
			continue
		}
		for _, a := range added {
			a.done <- broken
		}
	}
}

func (j *Journal) put(file *os.File, batch []byte) error {
	if _, err := file.Write(batch); err != nil {
		return fmt.Errorf("write journal %s: %w", j.path, err)
	}
	if err := file.Sync(); err != nil {
		return fmt.Errorf("sync journal %s: %w", j.path, err)
	}
	return nil
}

// Empty tells whether the journal holds no entry.
func (j *Journal) Empty() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	info, err := j.file.Stat()
	return err == nil && info.Size() == 0
}

// Holds tells whether the last Reset left just these intents open, and nothing has come since.
func (j *Journal) Holds(open []Intent) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.fresh || len(open) != len(j.pending) {
		return false
	}
	return !slices.ContainsFunc(open, func(i Intent) bool {
		held, ok := j.pending[i.ID]
		return !ok || !held.Absent.Equal(i.Absent)
	})
}

// Reset empties the journal but for the intents that stay open: everything else in
// it is part of a state that is safely kept. It must not be called while entries
// are being added. A crash leaves the journal as it was or as it is to be. Writing
// goes on after a Reset even if it failed before.
func (j *Journal) Reset(open ...Intent) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return errClosed
	}
	if err := j.replace(open); err != nil {
		return fmt.Errorf("empty journal: %w", err)
	}
	j.broken, j.fresh = nil, true
	clear(j.pending)
	for _, intent := range open {
		j.pending[intent.ID] = intent
	}
	carried, err := encodeIntents(open)
	j.replicas.reset(carried)
	return err
}

// replace puts a file with the intents in the journal's place. Without any, the
// file is emptied where it is, which needs no room on the disk.
func (j *Journal) replace(open []Intent) error {
	if len(open) == 0 {
		if err := j.file.Truncate(0); err != nil {
			return err
		}
		if _, err := j.file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		return j.file.Sync()
	}
	content, err := encodeIntents(open)
	if err != nil {
		return err
	}
	for _, intent := range open {
		j.nextID = max(j.nextID, intent.ID+1)
	}
	return j.swap(content)
}

// swap puts a file with the content in the journal's place atomically.
func (j *Journal) swap(content []byte) error {
	dir := filepath.Dir(j.path)
	next, err := os.CreateTemp(dir, "."+filepath.Base(j.path)+".*")
	if err != nil {
		return err
	}
	_, err = next.Write(content)
	if err == nil {
		err = next.Sync()
	}
	if err == nil {
		err = os.Rename(next.Name(), j.path)
	}
	if err != nil {
		return errors.Join(err, next.Close(), os.Remove(next.Name()))
	}
	before := j.file
	j.file = next
	return errors.Join(before.Close(), syncDir(dir))
}

// Close closes the file. It keeps what the journal holds.
func (j *Journal) Close() error {
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		return nil
	}
	j.closed = true
	j.mu.Unlock()
	close(j.flush)
	<-j.done
	j.replicas.close()
	return j.file.Close()
}

// Remove closes the journal and deletes its file.
func (j *Journal) Remove() error {
	return errors.Join(j.Close(), os.Remove(j.path))
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

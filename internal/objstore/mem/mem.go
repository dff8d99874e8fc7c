package mem

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/towline/terraform-provider-towline/internal/objstore"
)

// Store is an [objstore.Store] in memory. The zero value is not usable; see [New].
type Store struct {
	name string
	now  func() time.Time

	mu      sync.RWMutex
	writes  int64
	objects map[string]objstore.Object
	// keys are those of objects, sorted, so that a list costs what it yields.
	keys []string
}

var _ objstore.Store = (*Store)(nil)

var (
	namedMu sync.Mutex
	named   = map[string]*Store{}
)

// New returns an empty store. The name appears in its URL only.
func New(name string) *Store {
	return &Store{name: name, now: time.Now, objects: map[string]objstore.Object{}}
}

// Named returns the store of this name, the same one each time within the process.
func Named(name string) *Store {
	namedMu.Lock()
	defer namedMu.Unlock()
	if named[name] == nil {
		named[name] = New(name)
	}
	return named[name]
}

// URL returns mem://NAME.
func (s *Store) URL() string { return "mem://" + s.name }

// Get implements [objstore.Store].
func (s *Store) Get(ctx context.Context, key string, limit int64) (objstore.Object, error) {
	if err := check(ctx, key); err != nil {
		return objstore.Object{}, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	object, ok := s.objects[key]
	switch {
	case !ok:
		return objstore.Object{}, fmt.Errorf("read %q: %w", key, objstore.ErrNotExist)
	case int64(len(object.Data)) > limit:
		return objstore.Object{}, fmt.Errorf("read %q: %w (limit %d bytes)", key, objstore.ErrTooLarge, limit)
	}
	object.Data = bytes.Clone(object.Data)
	return object, nil
}

// Stat implements [objstore.Store].
func (s *Store) Stat(ctx context.Context, key string) (objstore.Info, error) {
	if err := check(ctx, key); err != nil {
		return objstore.Info{}, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	object, ok := s.objects[key]
	if !ok {
		return objstore.Info{}, fmt.Errorf("look up %q: %w", key, objstore.ErrNotExist)
	}
	return objstore.Info{Key: key, Size: int64(len(object.Data)), Version: object.Version, Modified: object.Modified}, nil
}

// Put implements [objstore.Store].
func (s *Store) Put(ctx context.Context, key string, data []byte) (objstore.Version, error) {
	return s.write(ctx, key, data, func(objstore.Object, bool) error { return nil })
}

// PutIfAbsent implements [objstore.Store].
func (s *Store) PutIfAbsent(ctx context.Context, key string, data []byte) (objstore.Version, error) {
	return s.write(ctx, key, data, func(_ objstore.Object, exists bool) error {
		if exists {
			return fmt.Errorf("create %q: %w", key, objstore.ErrExist)
		}
		return nil
	})
}

// PutIfMatch implements [objstore.Store].
func (s *Store) PutIfMatch(ctx context.Context, key string, data []byte, version objstore.Version) (objstore.Version, error) {
	return s.write(ctx, key, data, func(current objstore.Object, exists bool) error {
		switch {
		case !exists:
			return fmt.Errorf("replace %q: %w", key, objstore.ErrNotExist)
		case current.Version != version:
			return fmt.Errorf("replace %q: %w", key, objstore.ErrChanged)
		}
		return nil
	})
}

// List implements [objstore.Store]. It yields what existed when it was called.
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[objstore.Info, error] {
	return func(yield func(objstore.Info, error) bool) {
		if err := objstore.ValidatePrefix(prefix); err != nil {
			yield(objstore.Info{}, err)
			return
		}
		for _, info := range s.snapshot(prefix) {
			if err := ctx.Err(); err != nil {
				yield(objstore.Info{}, err)
				return
			}
			if !yield(info, nil) {
				return
			}
		}
	}
}

// Delete implements [objstore.Store].
func (s *Store) Delete(ctx context.Context, key string) error {
	if err := check(ctx, key); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.objects, key)
	if at, found := slices.BinarySearch(s.keys, key); found {
		s.keys = slices.Delete(s.keys, at, at+1)
	}
	return nil
}

func (s *Store) snapshot(prefix string) []objstore.Info {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var infos []objstore.Info
	first, _ := slices.BinarySearch(s.keys, prefix)
	for _, key := range s.keys[first:] {
		if !strings.HasPrefix(key, prefix) {
			break
		}
		object := s.objects[key]
		infos = append(infos, objstore.Info{Key: key, Size: int64(len(object.Data)), Modified: object.Modified})
	}
	return infos
}

func (s *Store) write(ctx context.Context, key string, data []byte, allow func(objstore.Object, bool) error) (objstore.Version, error) {
	if err := check(ctx, key); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	current, exists := s.objects[key]
	if err := allow(current, exists); err != nil {
		return "", err
	}
	if at, found := slices.BinarySearch(s.keys, key); !found {
		s.keys = slices.Insert(s.keys, at, key)
	}
	s.writes++
	version := objstore.Version(strconv.FormatInt(s.writes, 10))
	s.objects[key] = objstore.Object{Data: bytes.Clone(data), Version: version, Modified: s.now().UTC()}
	return version, nil
}

func check(ctx context.Context, key string) error {
	if err := objstore.ValidateKey(key); err != nil {
		return err
	}
	return ctx.Err()
}

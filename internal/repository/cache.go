package repository

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/objstore/file"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// Keys inside a client's folder. Root, timestamp and snapshot are written as soon
// as they are verified, since nothing older may be accepted afterwards, whatever
// becomes of the rest of the update.
const (
	rootKey       = "root.json"
	timestampKey  = "timestamp.json"
	snapshotKey   = "snapshot.json"
	contentPrefix = "content/"
)

// maxKept bounds a file with one of each kind of metadata, in base64.
const maxKept = 2 * (maxRoot + maxTimestamp + maxSnapshot + 3*maxMetadata)

// cache is a client's folder, one for each repository.
type cache struct{ store *file.Store }

// kept is the metadata of one complete update, in one file so that it is whole.
type kept struct {
	Root        []byte `json:"root"`
	Timestamp   []byte `json:"timestamp"`
	Snapshot    []byte `json:"snapshot"`
	Targets     []byte `json:"targets"`
	Environment []byte `json:"environment,omitempty"`
	Channel     []byte `json:"channel,omitempty"`
	// Revision and Earlier are the digests of the revision and of the last other one
	// whose content came: it is in force until the new one's comes.
	Revision string `json:"revision,omitempty"`
	Earlier  string `json:"earlier,omitempty"`
}

func openCache(dir, fingerprint string) (cache, error) {
	store, err := file.Open(filepath.Join(dir, fingerprint[:16]))
	return cache{store}, err
}

// get returns nil for what is not there or cannot be read: it is fetched again.
func (c cache) get(ctx context.Context, key string, limit int64) []byte {
	object, err := c.store.Get(ctx, key, limit)
	if err != nil {
		return nil
	}
	return object.Data
}

func (c cache) put(ctx context.Context, key string, data []byte) error {
	_, err := c.store.Put(ctx, key, data)
	return err
}

// newestRoot returns the root that the last update ended with, if it is one.
func (c cache) newestRoot(ctx context.Context, first []byte) []byte {
	data := c.get(ctx, rootKey, maxRoot)
	if _, err := trust.NewVerifier(data, time.Time{}); err != nil {
		return first
	}
	return data
}

func lastKey(environment, channel string) string {
	return "last/" + environment + "/" + channel + ".json"
}

func (c cache) last(ctx context.Context, environment, channel string) (kept, error) {
	object, err := c.store.Get(ctx, lastKey(environment, channel), maxKept)
	if errors.Is(err, objstore.ErrNotExist) {
		return kept{}, ErrNothingKept
	}
	if err != nil {
		return kept{}, err
	}
	var k kept
	if err := json.Unmarshal(object.Data, &k); err != nil {
		return kept{}, fmt.Errorf("%w: %w", trust.ErrMalformed, err)
	}
	return k, nil
}

// keep makes an update the last one, and removes content that neither it nor the
// one before needs.
func (c cache) keep(ctx context.Context, k kept, state *State) error {
	before, err := c.last(ctx, state.Environment, state.Channel)
	if err == nil {
		k.Earlier = c.earlier(ctx, before, state)
	}
	if state.Revision != nil {
		k.Revision = state.Revision.Digest
	}
	needed := needed(before, k, state)
	data, err := json.Marshal(k)
	if err != nil {
		return err
	}
	if err := c.put(ctx, lastKey(state.Environment, state.Channel), data); err != nil {
		return err
	}
	for info, err := range c.store.List(ctx, contentPrefix) {
		if err != nil {
			return err
		}
		if !needed[strings.TrimPrefix(info.Key, contentPrefix)] {
			_ = c.store.Delete(ctx, info.Key) // the next update tries again
		}
	}
	return nil
}

// earlier is the revision to which one may want to return: the one before, unless its
// content never came.
func (c cache) earlier(ctx context.Context, before kept, state *State) string {
	if before.Revision == "" || state.Revision != nil && state.Revision.Digest == before.Revision {
		return before.Earlier
	}
	if _, err := c.store.Stat(ctx, contentPrefix+before.Revision); err != nil {
		return before.Earlier
	}
	return before.Revision
}

// needed is the digests of the documents of a state and of the one before, and of
// their revisions.
func needed(before, k kept, state *State) map[string]bool {
	digests := map[string]bool{k.Revision: true, k.Earlier: true}
	for _, doc := range state.documents() {
		if data, err := control.Encode(doc); err == nil {
			digests[trust.Digest(data)] = true
		}
	}
	v, err := before.verify(state.Environment, state.Channel)
	if err != nil {
		return digests
	}
	for _, target := range v.List(trust.EnvironmentRole(state.Environment)) {
		digests[target.SHA256] = true
	}
	return digests
}

func (s *State) documents() []control.Declared {
	var docs []control.Declared
	for _, doc := range s.Agents {
		docs = append(docs, doc)
	}
	for _, doc := range s.Scopes {
		docs = append(docs, doc)
	}
	for _, doc := range s.Policies {
		docs = append(docs, doc)
	}
	return docs
}

// verify accepts once more what was accepted before, without judging expiry.
func (k kept) verify(environment, channel string) (*trust.Verifier, error) {
	v, err := trust.NewVerifier(k.Root, time.Time{})
	if err != nil {
		return nil, err
	}
	for _, step := range []func() error{
		func() error { return v.Timestamp(k.Timestamp) },
		func() error { return v.Snapshot(k.Snapshot) },
		func() error { return v.Targets(k.Targets) },
		func() error { return acceptRole(v, trust.EnvironmentRole(environment), k.Environment) },
		func() error { return acceptRole(v, trust.ChannelRole(channel), k.Channel) },
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func acceptRole(v *trust.Verifier, role string, data []byte) error {
	if _, signed := v.File(role); !signed && len(data) == 0 {
		return nil
	}
	return v.Role(role, data)
}

func (c cache) content(ctx context.Context, target trust.Target) (trust.Verified, error) {
	object, err := c.store.Get(ctx, contentPrefix+target.SHA256, target.Length)
	if err != nil {
		return trust.Verified{}, err
	}
	return target.Verify(object.Data)
}

func (c cache) putContent(ctx context.Context, verified trust.Verified) error {
	return c.put(ctx, contentPrefix+verified.Info().SHA256, verified.Content())
}

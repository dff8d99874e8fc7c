package repository

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// Client reads a repository for one agent. It keeps what it verified in a folder
// of its own, which must survive restarts: protection from older versions rests on
// it, and so does working while the store cannot be reached. It is not safe for
// concurrent use, and no two clients may share a folder.
type Client struct {
	sources Sources
	root    []byte
	cache   cache
	// verified is what the last update came to, nil before the first.
	verified *verified
}

// NewClient returns a client that trusts the repository's first root and keeps
// what it verified in dir, an absolute path. It reads from mirrors what the store does not
// give, or gives wrongly.
func NewClient(store objstore.Store, dir string, firstRoot []byte, mirrors ...objstore.Store) (*Client, error) {
	if _, err := trust.NewVerifier(firstRoot, time.Time{}); err != nil {
		return nil, fmt.Errorf("open client: %w", err)
	}
	cache, err := openCache(dir, Fingerprint(firstRoot))
	if err != nil {
		return nil, fmt.Errorf("open client: %w", err)
	}
	return &Client{sources: append(Sources{store}, mirrors...), root: firstRoot, cache: cache}, nil
}

// State is what an environment declares and its channel offers, all verified.
type State struct {
	Environment, Channel string
	// From is the URL of the store or mirror that it was read from, "" if nothing was asked.
	From     string
	Agents   map[string]control.Agent
	Scopes   map[string]control.Scope
	Policies map[string]control.BreakGlassPolicy
	// PlanPolicies are the Rego policies about plans.
	PlanPolicies map[string]control.Policy
	// Keys are those that may declare for the environment.
	Keys []trust.PublicKey
	// Revision is the channel's current one, nil before the first.
	Revision *Revision
	// Expires is what ends first of all that was read. A state from [Client.Last]
	// may be past it.
	Expires trust.Ending
	// Endings is when all of it ends, beginning with Expires.
	Endings []trust.Ending
}

// Update reads and verifies the newest metadata of one environment and one
// channel, and the environment's documents. channel may be "" for an agent that
// does not know its channel yet: then the state has no revision. An error wraps what package trust or
// objstore names; it changes nothing, and [Client.Last] still returns what was
// verified before. In particular [trust.ErrExpired] means that nobody renews the
// repository or that newer versions are withheld.
func (c *Client) Update(ctx context.Context, now time.Time, environment, channel string) (*State, error) {
	var done *update
	var same *State
	err := c.sources.try(ctx, func(ctx context.Context, store objstore.Store) error {
		if same = c.unchanged(ctx, store, now, environment, channel); same != nil {
			return nil
		}
		done = &update{client: c, store: store, ctx: ctx, now: now, environment: environment, channel: channel}
		return done.run()
	})
	if err != nil {
		return nil, fmt.Errorf("update from %s: %w", c.sources[0].URL(), err)
	}
	if same != nil {
		return same, nil
	}
	if channel == "" {
		return done.state, nil
	}
	if err := c.cache.keep(ctx, done.kept, done.state); err != nil {
		return nil, fmt.Errorf("update: keep what was verified: %w", err)
	}
	c.remember(done)
	return done.state, nil
}

// Last returns what the last successful [Client.Update] of the environment and
// channel verified, verified once more but for expiry, without asking the store.
// [ErrNothingKept] if there is nothing.
func (c *Client) Last(ctx context.Context, environment, channel string) (*State, error) {
	if channel == "" {
		return nil, fmt.Errorf("read what was verified last: %w", ErrNothingKept)
	}
	kept, err := c.cache.last(ctx, environment, channel)
	if err != nil {
		return nil, fmt.Errorf("read what was verified last: %w", err)
	}
	v, err := kept.verify(environment, channel)
	if err != nil {
		return nil, fmt.Errorf("read what was verified last: %w", err)
	}
	state, err := stateOf(v, environment, channel, func(target trust.Target) (trust.Verified, error) { return c.cache.content(ctx, target) })
	if err != nil {
		return nil, fmt.Errorf("read what was verified last: %w", err)
	}
	return state, nil
}

// Content returns a revision's archive, from the client's folder if it is there.
func (c *Client) Content(ctx context.Context, revision Revision) (trust.Verified, error) {
	if verified, err := c.cache.content(ctx, revision.target); err == nil {
		return verified, nil
	}
	if revision.Length > MaxRevision {
		return trust.Verified{}, fmt.Errorf("read revision %s: it has %d bytes, more than %d", revision.Name, revision.Length, MaxRevision)
	}
	var verified trust.Verified
	err := c.sources.try(ctx, func(ctx context.Context, store objstore.Store) (err error) {
		verified, err = fetchTarget(ctx, store, revision.target)
		return err
	})
	if err != nil {
		return trust.Verified{}, err
	}
	if err := c.cache.putContent(ctx, verified); err != nil {
		return trust.Verified{}, fmt.Errorf("keep revision %s: %w", revision.Name, err)
	}
	return verified, nil
}

// update is one run of [Client.Update], against one store: what it reads belongs
// together. Each step may rely on those before it.
type update struct {
	client               *Client
	store                objstore.Store
	ctx                  context.Context //nolint:containedctx // it lives for one call
	now                  time.Time
	environment, channel string

	v     *trust.Verifier
	last  kept // of the last successful update, to read less
	kept  kept
	state *State
}

func (u *update) run() error {
	for _, step := range []func() error{u.roots, u.timestamp, u.snapshot, u.targets, u.roles, u.documents} {
		if err := step(); err != nil {
			return err
		}
	}
	u.state.From = u.store.URL()
	return nil
}

func (u *update) roots() error {
	root := u.client.cache.newestRoot(u.ctx, u.client.root)
	v, err := trust.NewVerifier(root, u.now)
	if err != nil {
		return err
	}
	newer, err := walkRoots(u.ctx, u.store, v)
	if err != nil {
		return err
	}
	u.v, u.kept.Root = v, root
	if newer == nil {
		return nil
	}
	u.kept.Root = newer
	return u.client.cache.put(u.ctx, rootKey, newer)
}

func (u *update) timestamp() error {
	before := u.client.cache.get(u.ctx, timestampKey, maxTimestamp)
	u.v.RememberTimestamp(before)
	remembered := u.v.TimestampVersion()
	object, err := fetch(u.ctx, u.store, timestampFile, maxTimestamp)
	if err != nil {
		return err
	}
	if err := u.v.Timestamp(object.Data); err != nil {
		return err
	}
	if u.v.TimestampVersion() == remembered {
		u.kept.Timestamp = before
		return nil
	}
	u.kept.Timestamp = object.Data
	return u.client.cache.put(u.ctx, timestampKey, object.Data)
}

func (u *update) snapshot() error {
	file, err := u.v.SnapshotFile()
	if err != nil {
		return err
	}
	before := u.client.cache.get(u.ctx, snapshotKey, maxSnapshot)
	if u.v.RememberSnapshot(before) {
		u.kept.Snapshot = before
		return nil
	}
	data, err := fetchNamed(u.ctx, u.store, trust.RoleSnapshot, file, maxSnapshot)
	if err != nil {
		return err
	}
	if err := u.v.Snapshot(data); err != nil {
		return err
	}
	u.kept.Snapshot = data
	return u.client.cache.put(u.ctx, snapshotKey, data)
}

func (u *update) targets() error {
	if u.channel != "" {
		u.last, _ = u.client.cache.last(u.ctx, u.environment, u.channel) // without it more is read
	}
	data, err := u.role(trust.RoleTargets, u.last.Targets)
	if err != nil {
		return err
	}
	if data == nil {
		return fmt.Errorf("role targets: %w", trust.ErrMixAndMatch)
	}
	u.kept.Targets = data
	return u.v.Targets(data)
}

func (u *update) roles() (err error) {
	u.kept.Environment, err = u.delegated(trust.EnvironmentRole(u.environment), u.last.Environment)
	if err != nil || u.channel == "" {
		return err
	}
	u.kept.Channel, err = u.delegated(trust.ChannelRole(u.channel), u.last.Channel)
	return err
}

func (u *update) delegated(role string, last []byte) ([]byte, error) {
	if _, ok := u.v.Delegation(role); !ok {
		return nil, fmt.Errorf("role %s: %w", role, trust.ErrNoRole)
	}
	data, err := u.role(role, last)
	if err != nil || data == nil {
		return nil, err
	}
	return data, u.v.Role(role, data)
}

// role reads a role's metadata, from what was kept if that is still current; nil
// if the role has signed nothing yet.
func (u *update) role(role string, last []byte) ([]byte, error) {
	file, ok := u.v.File(role)
	if !ok {
		return nil, nil
	}
	if file.Length > 0 && file.Matches(last) {
		return last, nil
	}
	return fetchNamed(u.ctx, u.store, role, file, maxMetadata)
}

func (u *update) documents() (err error) {
	u.state, err = stateOf(u.v, u.environment, u.channel, u.content)
	return err
}

func (u *update) content(target trust.Target) (trust.Verified, error) {
	if verified, err := u.client.cache.content(u.ctx, target); err == nil {
		return verified, nil
	}
	verified, err := fetchTarget(u.ctx, u.store, target)
	if err != nil {
		return trust.Verified{}, err
	}
	return verified, u.client.cache.putContent(u.ctx, verified)
}

// stateOf decodes the documents that the accepted metadata lists.
func stateOf(v *trust.Verifier, environment, channel string, content func(trust.Target) (trust.Verified, error)) (*State, error) {
	state := &State{
		Environment: environment, Channel: channel, Expires: v.Expires(), Endings: v.Endings(),
		Agents: map[string]control.Agent{}, Scopes: map[string]control.Scope{}, Policies: map[string]control.BreakGlassPolicy{},
		PlanPolicies: map[string]control.Policy{},
	}
	role, _ := v.Delegation(trust.EnvironmentRole(environment)) // who has no role has no documents
	state.Keys = role.Keys
	targets := v.List(trust.EnvironmentRole(environment))
	if len(targets) > maxDocuments {
		return nil, fmt.Errorf("environment %s: %w: it has %d documents, more than %d", environment, trust.ErrMalformed, len(targets), maxDocuments)
	}
	for _, target := range targets {
		if err := state.add(target, content); err != nil {
			return nil, err
		}
	}
	if channel == "" {
		return state, nil
	}
	revisions, err := revisionsOf(channel, v.List(trust.ChannelRole(channel)))
	if err != nil {
		return nil, err
	}
	if len(revisions) > 0 {
		state.Revision = &revisions[0]
	}
	return state, nil
}

func (s *State) add(target trust.Target, content func(trust.Target) (trust.Verified, error)) error {
	if target.Length > control.MaxDocument {
		return fmt.Errorf("target %q: %w: it has %d bytes", target.Name, control.ErrMalformed, target.Length)
	}
	ref, err := control.ParseTarget(target.Name)
	if err != nil {
		return errors.Join(trust.ErrMalformed, err)
	}
	verified, err := content(target)
	if err != nil {
		return err
	}
	doc, err := control.DecodeDeclared(ref, verified.Content())
	if err != nil {
		return err
	}
	switch doc := doc.(type) {
	case control.Agent:
		s.Agents[ref.Name] = doc
	case control.Scope:
		s.Scopes[ref.Name] = doc
	case control.BreakGlassPolicy:
		s.Policies[ref.Name] = doc
	case control.Policy:
		s.PlanPolicies[ref.Name] = doc
	}
	return nil
}

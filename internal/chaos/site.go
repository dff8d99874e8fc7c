package chaos

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"filippo.io/age"

	"github.com/towline/terraform-provider-towline/internal/bundle"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest/versitygw"
	"github.com/towline/terraform-provider-towline/internal/objstore/open"
	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/seal"
	"github.com/towline/terraform-provider-towline/internal/simcloud"
	"github.com/towline/terraform-provider-towline/internal/simcloud/client"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

const (
	channel = "stable"
	scope   = "all"
	// poll is the shortest time between rounds that a document may ask for.
	poll = time.Second
	// period is how often an agent that may be followed says that it is there.
	period = 3 * time.Second
	// tokenLife is how long a join token may wait to be used.
	tokenLife = time.Hour
)

// site is one environment with a cloud of its own, a bucket, and its agents.
type site struct {
	opts   *Options
	name   string
	dir    string
	random *rand.Rand

	store   objstore.Store
	repo    *repository.Repository
	signing trust.Signing
	// identities open what agents seal.
	identities []age.Identity
	cloud      *simcloud.Cloud
	server     *http.Server
	hand       *client.Client
	// cloudURL is the cloud's own address, past every relay.
	cloudURL string

	members []*member
	// pair tells that there are two, one of which follows the other.
	pair     bool
	declared *declared
	// revision is the digest of the newest revision.
	revision string
	ledger   *ledger
	// reported gets a word whenever an agent has given one.
	reported chan struct{}
	report   *Report

	mu sync.Mutex
	// taken are when epochs of the lease were taken.
	taken map[int64]time.Time
}

// newSite makes an environment in which nothing is declared and no agent runs yet.
func newSite(ctx context.Context, opts *Options, number int, report *Report) (*site, error) {
	name := fmt.Sprintf("site-%d", number)
	s := &site{opts: opts, name: name, dir: filepath.Join(opts.Dir, name), random: rand.New(rand.NewPCG(opts.Seed, uint64(number))),
		declared: newDeclared(name), reported: make(chan struct{}, 1), report: report, pair: number%2 == 0}
	s.ledger = newLedger(s)
	steps := []func(context.Context) error{s.makeCloud, s.makeRepository, s.addMember}
	if s.pair {
		steps = append(steps, s.addMember)
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return nil, errors.Join(fmt.Errorf("make %s: %w", name, err), s.close(false))
		}
	}
	return s, nil
}

// close ends the agents and everything they reach; keep has what they have on disk stay.
func (s *site) close(keep bool) (err error) {
	for _, m := range s.members {
		m.kill()
		m.store.close()
		m.cloud.close()
		err = errors.Join(err, m.clock.close(), m.unmount(keep))
	}
	if s.server != nil {
		_ = s.server.Close() // whatever is under way is of no interest any more
	}
	return err
}

func (s *site) makeCloud(context.Context) (err error) {
	if s.cloud, err = simcloud.New(simcloud.Options{Seed: s.opts.Seed}); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.server = &http.Server{Handler: s.cloud, ReadHeaderTimeout: time.Minute}
	go func() { _ = s.server.Serve(listener) }() // it ends with close
	s.cloudURL = "http://" + listener.Addr().String()
	s.hand, err = client.New(client.Config{Endpoint: s.cloudURL, Actor: "harness"})
	return err
}

// makeRepository makes the repository, with one key for everything, and the scope.
func (s *site) makeRepository(ctx context.Context) (err error) {
	if err := s.opts.s3.CreateBucket(s.name); err != nil {
		return err
	}
	if s.store, err = open.Open(ctx, s.opts.s3.StoreURL(s.name, "main")); err != nil {
		return err
	}
	key, err := trust.GenerateKey()
	if err != nil {
		return err
	}
	s.signing = trust.Signing{Keys: trust.Keyring{key}, Now: time.Now()}
	identity, err := seal.IdentityOf(key.Ed25519())
	if err != nil {
		return err
	}
	s.identities = []age.Identity{identity}
	s.repo, err = repository.Init(ctx, s.store, repository.SingleKey(key.Public(), []string{s.name}, []string{channel}), s.signing)
	if err != nil {
		return err
	}
	_, err = s.repo.PutDocuments(ctx, s.sign(), control.Scope{Version: control.FormatVersion, Environment: s.name, Name: scope,
		Include: []control.Match{{Address: "**"}}, Drift: control.Drift{Mode: control.DriftEnforce}})
	return err
}

func (s *site) shard() control.Shard { return control.Shard{Environment: s.name} }

func (s *site) sign() trust.Signing {
	signing := s.signing
	signing.Now = time.Now()
	return signing
}

// addMember declares another agent and makes its machine.
func (s *site) addMember(ctx context.Context) error { return s.addAgent(ctx, "", scope) }

// addAgent declares another agent of a shard with a scope, and makes its machine.
func (s *site) addAgent(ctx context.Context, shard, scope string) error {
	public, token, err := ed25519.GenerateKey(nil)
	if err != nil {
		return err
	}
	m := &member{site: s, name: fmt.Sprintf("agent-%d", len(s.members)+1)}
	m.dir = filepath.Join(s.dir, m.name)
	m.declared = control.Agent{Version: control.FormatVersion, Environment: s.name, Name: m.name, Channel: channel, Shard: shard, Scopes: []string{scope},
		PollInterval: control.Duration(poll), Heartbeat: control.Duration(period),
		Join: control.Join{Generation: 1, PublicKey: control.EncodeKey(public), Expires: time.Now().Add(tokenLife).UTC()}}
	if _, err := s.repo.PutDocuments(ctx, s.sign(), m.declared); err != nil {
		return err
	}
	if m.store, err = newRelay(s.opts.s3.Endpoint); err != nil {
		return err
	}
	if m.cloud, err = newRelay(s.cloudURL); err != nil {
		return err
	}
	m.store.watch(func(method, path string) {
		if method == http.MethodPut {
			m.wrote(path, time.Now())
		}
	})
	if err := m.furnish(s.repo.Root(), token); err != nil {
		return err
	}
	if m.clock, err = newClock(filepath.Join(m.dir, "clock")); err != nil {
		return err
	}
	s.members = append(s.members, m)
	return nil
}

// wrote looks at what the agent has written into the store: its words, and the lease.
func (m *member) wrote(path string, at time.Time) {
	s := m.site
	switch {
	case strings.HasSuffix(path, "/heartbeat.json"):
		m.spoke(at)
		select {
		case s.reported <- struct{}{}:
		default:
		}
	case strings.Contains(path, "/"+s.shard().LeasePrefix()):
		if epoch, ok := control.ParseLeaseKey(path); ok {
			s.took(epoch, at)
		}
	}
}

// took takes down when an epoch was taken: the store lets nobody take it again.
func (s *site) took(epoch int64, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken == nil {
		s.taken = map[int64]time.Time{}
	}
	s.taken[epoch] = at
}

// takenAt is when an epoch was taken, the zero time if nobody was seen to take it.
func (s *site) takenAt(epoch int64) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken[epoch]
}

// furnish writes what the agent needs to begin.
func (m *member) furnish(root []byte, token ed25519.PrivateKey) error {
	if err := os.MkdirAll(m.dataDir(), 0o700); err != nil {
		return err
	}
	config := fmt.Sprintf("store        = %q\nenvironment  = %q\nagent        = %q\ntrusted_root = %q\ndata_dir     = %q\njoin_token {\n  file = %q\n}\n",
		versitygw.StoreURL(m.store.url, m.site.name, "main"), m.site.name, m.name, filepath.Join(m.dir, "root.json"), m.dataDir(), filepath.Join(m.dir, "token"))
	errs := []error{m.mount()}
	for name, content := range map[string]string{"agent.hcl": config, "root.json": string(root), "token": base64.StdEncoding.EncodeToString(token.Seed())} {
		errs = append(errs, os.WriteFile(filepath.Join(m.dir, name), []byte(content), 0o600))
	}
	return errors.Join(errs...)
}

// publish publishes what is declared now as the next revision.
func (s *site) publish(ctx context.Context) error {
	dir := filepath.Join(s.dir, "module")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(s.declared.configuration()), 0o600); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	archive, err := bundle.Pack(dir, bundle.DefaultLimits)
	if err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	revision, _, err := s.repo.Publish(ctx, s.sign(), channel, archive.Data, repository.Note{})
	if err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	s.revision = revision.Digest
	return nil
}

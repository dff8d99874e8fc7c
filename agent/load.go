package agent

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/bundle"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/policy"
	"github.com/towline/terraform-provider-towline/internal/repository"
)

// loaded is a revision ready to plan.
type loaded struct {
	digest    string
	dir       string
	config    *configs.Config
	variables map[string]cty.Value
	// secrets are what other variables get their values from, in every round.
	secrets []secretSource
	// policies are the revision's own.
	policies policy.Source
	engine   *engine.Engine
	// providers ends the provider processes; lock identifies the providers' versions.
	providers io.Closer
	lock      [sha256.Size]byte
	wanted    Requirements
}

func (l *loaded) close() error { return errors.Join(l.engine.Close(), l.providers.Close()) }

// load makes the channel's revision ready, or keeps the one that is. A revision
// that cannot be loaded leaves the running one in force.
func (r *round) load(ctx context.Context) error {
	a := r.agent
	wanted := r.declared.Revision
	if wanted == nil {
		return fmt.Errorf("channel %[1]s has no revision yet; publish one with: towline publish -channel %[1]s DIR", r.self.Channel)
	}
	if a.running != nil && a.running.digest == wanted.Digest {
		r.revision = a.running
		return nil
	}
	a.dropLast()
	next, err := a.loadRevision(ctx, *wanted)
	if err != nil {
		return r.stay(*wanted, err)
	}
	a.log.Info("revision loaded", "revision", next.digest, "channel", r.self.Channel)
	before := a.running
	a.running, r.revision = next, next
	a.retire(before)
	return a.removeOldRevisions(next.dir, a.revisionDir(a.memory.Begun))
}

// stay keeps the revision that is in force, from the data folder if the agent was
// started since: a new revision that is no good must not end the protection.
func (r *round) stay(wanted repository.Revision, unusable error) error {
	a := r.agent
	if a.running == nil {
		kept := a.memory.Begun
		if kept == wanted.Digest || a.memory.Revision == "" && kept == "" {
			return unusable
		}
		if kept == "" {
			return fmt.Errorf("%w; revision %s cannot be used: %w", a.superseded(), short(wanted.Digest), unusable)
		}
		running, err := a.openRevision(kept)
		if err != nil {
			return errors.Join(unusable, fmt.Errorf("go on with revision %s: %w", short(kept), err))
		}
		a.running = running
	}
	r.revision = a.running
	r.notice = fmt.Sprintf("revision %s cannot be used: %s", short(wanted.Digest), firstLine(unusable.Error()))
	r.warn("New revision not usable", fmt.Sprintf("Revision %s cannot be used: %s. Revision %s stays in force.", short(wanted.Digest), unusable, short(a.running.digest)))
	return nil
}

// loadRevision fetches and verifies a revision, unpacks it and opens it.
func (a *Agent) loadRevision(ctx context.Context, revision repository.Revision) (*loaded, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	verified, err := a.client.Content(ctx, revision)
	if err != nil {
		return nil, err
	}
	dir := a.revisionDir(revision.Digest)
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return nil, fmt.Errorf("make folder for revisions: %w", err)
	}
	if err := bundle.Unpack(verified, dir, bundle.DefaultLimits); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return a.openRevision(revision.Digest)
}

// revisionDir is where a revision that was verified lies unpacked.
func (a *Agent) revisionDir(digest string) string {
	return filepath.Join(a.config.DataDir, "revisions", digest)
}

// openRevision reads the configuration of a revision in the data folder. The engine
// and its providers are kept if the providers' versions stay the same.
func (a *Agent) openRevision(digest string) (*loaded, error) {
	dir := a.revisionDir(digest)
	if !configs.HasFiles(dir) {
		return nil, errors.New("the revision holds no configuration")
	}
	config, diags := configs.Load(dir)
	if diags.HasErrors() {
		return nil, diags.Err()
	}
	variables, diags := configs.CollectVariables(config.Module, configs.VariableSources{Dir: dir, Environ: a.environ})
	if diags.HasErrors() {
		return nil, diags.Err()
	}
	secrets, err := a.secretSources(dir, config.Module)
	if err != nil {
		return nil, err
	}
	rego, err := a.revisionPolicies(dir)
	if err != nil {
		return nil, err
	}
	next := &loaded{digest: digest, dir: dir, config: config, variables: variables, secrets: secrets, policies: rego}
	lock, err := os.ReadFile(filepath.Join(dir, ".terraform.lock.hcl"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("read lock file: %w", err)
	}
	next.wanted = a.requirements(config)
	next.lock = sha256.Sum256(fmt.Appendf(bytes.TrimSpace(lock), "\n%v", next.wanted))
	return next, a.equip(next)
}

// requirements are the providers that a configuration needs and those of recorded
// objects, which must be destroyed with them when the configuration drops them.
func (a *Agent) requirements(config *configs.Config) Requirements {
	wanted := config.ProviderRequirements()
	for _, r := range a.state.Resources() {
		provider := r.Provider.Provider
		if _, ok := wanted[provider]; !ok && provider != addrs.BuiltInProvider {
			wanted[provider] = nil
		}
	}
	return wanted
}

// equip gives a revision an engine and providers.
func (a *Agent) equip(next *loaded) error {
	if a.running != nil && a.running.lock == next.lock {
		next.engine, next.providers = a.running.engine, a.running.providers
		return nil
	}
	source, closer, diags := a.providers(next.dir, next.wanted)
	if diags.HasErrors() {
		return diags.Err()
	}
	next.engine, next.providers = engine.New(engine.Options{Providers: source, Now: a.now, StopGrace: a.timeouts.Stop}), closer
	return nil
}

// retire ends the providers of a revision, unless another one that is loaded uses them.
func (a *Agent) retire(old *loaded) {
	for _, used := range []*loaded{a.running, a.last} {
		if old == nil || used != nil && used.engine == old.engine {
			return
		}
	}
	if err := old.close(); err != nil {
		a.log.Warn("providers did not end cleanly", "error", err)
	}
}

// dropLast ends what the last applied revision needed while another waited for approval.
func (a *Agent) dropLast() {
	last := a.last
	a.last = nil
	a.retire(last)
}

// abandon ends the providers after a step ran out of time: one of them may hang, and
// would be asked again. The next round loads the revision anew.
func (a *Agent) abandon() {
	a.dropLast()
	running := a.running
	a.running = nil
	a.retire(running)
}

// removeOldRevisions keeps the folders of the running revision and of the one in force,
// which may be another; the repository's client still has the archives it
// may need again.
func (a *Agent) removeOldRevisions(keep ...string) error {
	parent := filepath.Dir(keep[0])
	entries, err := os.ReadDir(parent)
	if err != nil {
		return fmt.Errorf("list revisions: %w", err)
	}
	for _, entry := range entries {
		if path := filepath.Join(parent, entry.Name()); !slices.Contains(keep, path) {
			if err := os.RemoveAll(path); err != nil {
				return fmt.Errorf("remove old revision: %w", err)
			}
		}
	}
	return nil
}

// short is a digest for people.
func short(digest string) string {
	if len(digest) > 12 {
		return digest[:12]
	}
	return digest
}

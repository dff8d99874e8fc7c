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

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/bundle"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/repository"
)

// loaded is a revision ready to plan.
type loaded struct {
	digest    string
	dir       string
	config    *configs.Config
	variables map[string]cty.Value
	engine    *engine.Engine
	// providers ends the provider processes; lock identifies the providers' versions.
	providers io.Closer
	lock      [sha256.Size]byte
}

func (l *loaded) close() error { return errors.Join(l.engine.Close(), l.providers.Close()) }

// load makes the channel's revision ready, or keeps the one that is. A revision
// that cannot be loaded leaves the running one in force.
func (r *round) load(ctx context.Context) error {
	a := r.agent
	wanted := r.declared.Revision
	if wanted == nil {
		return fmt.Errorf("channel %s has no revision yet", r.self.Channel)
	}
	if a.running != nil && a.running.digest == wanted.Digest {
		r.revision = a.running
		return nil
	}
	next, err := a.loadRevision(ctx, *wanted)
	if err != nil && a.running != nil {
		r.warn("New revision not usable", fmt.Sprintf("Revision %s cannot be used: %s. Revision %s stays in force.", short(wanted.Digest), err, short(a.running.digest)))
		r.revision = a.running
		return nil
	}
	if err != nil {
		return err
	}
	a.log.Info("revision loaded", "revision", next.digest, "channel", r.self.Channel)
	a.running, r.revision = next, next
	return a.removeOldRevisions(next.dir)
}

// loadRevision unpacks a revision and reads its configuration. The engine and its
// providers are kept if the providers' versions stay the same.
func (a *Agent) loadRevision(ctx context.Context, revision repository.Revision) (*loaded, error) {
	fetchCtx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	verified, err := a.client.Content(fetchCtx, revision)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(a.config.DataDir, "revisions", revision.Digest)
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return nil, fmt.Errorf("make folder for revisions: %w", err)
	}
	if err := bundle.Unpack(verified, dir, bundle.DefaultLimits); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	config, diags := configs.Load(dir)
	if diags.HasErrors() {
		return nil, diags.Err()
	}
	variables, diags := configs.CollectVariables(config.Module, configs.VariableSources{Dir: dir, Environ: a.environ})
	if diags.HasErrors() {
		return nil, diags.Err()
	}
	next := &loaded{digest: revision.Digest, dir: dir, config: config, variables: variables}
	lock, err := os.ReadFile(filepath.Join(dir, ".terraform.lock.hcl"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("read lock file: %w", err)
	}
	next.lock = sha256.Sum256(bytes.TrimSpace(lock))
	if a.running != nil && a.running.lock == next.lock {
		next.engine, next.providers = a.running.engine, a.running.providers
		return next, nil
	}
	source, closer, diags := a.providers(dir, config)
	if diags.HasErrors() {
		return nil, diags.Err()
	}
	next.engine, next.providers = engine.New(engine.Options{Providers: source, Now: a.now}), closer
	if a.running != nil {
		if err := a.running.close(); err != nil {
			a.log.Warn("providers did not end cleanly", "error", err)
		}
	}
	return next, nil
}

// removeOldRevisions keeps the folder of the running revision only; the
// repository's client still has the archives it may need again.
func (a *Agent) removeOldRevisions(keep string) error {
	parent := filepath.Dir(keep)
	entries, err := os.ReadDir(parent)
	if err != nil {
		return fmt.Errorf("list revisions: %w", err)
	}
	for _, entry := range entries {
		if path := filepath.Join(parent, entry.Name()); path != keep {
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

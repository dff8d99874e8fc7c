package agent

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/guard"
	"github.com/towline/terraform-provider-towline/internal/journal"
	"github.com/towline/terraform-provider-towline/internal/lease"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// Providers finds the Terraform providers of a revision that lies in dir. The
// closer ends what was started.
type Providers func(dir string, wanted Requirements) (engine.ProviderSource, io.Closer, tfdiags.Diagnostics)

// Requirements are the providers that a revision and the recorded objects need,
// with the version constraints on them.
type Requirements = map[addrs.Provider][]string

// Options are an agent's surroundings.
type Options struct {
	// Store is the repository's, and what agents coordinate by; Mirrors are copies of the
	// repository, only read.
	Store     objstore.Store
	Mirrors   []objstore.Store
	Providers Providers
	// Environ holds TF_VAR_ variables, as NAME=VALUE.
	Environ []string
	Logger  *slog.Logger
	// Secrets are what must be in no text; nil means what the agent itself finds out.
	Secrets *Secrets
	// Credentials are those of AWS that store and providers use too; nil means none that end.
	Credentials aws.CredentialsProvider
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// HTTP is the client for notifications; nil means one with a short timeout.
	HTTP *http.Client
	// Timeouts bound what waits for providers.
	Timeouts Timeouts
}

// Agent keeps one environment's objects equal to a channel's revision. It is not
// safe for concurrent use.
type Agent struct {
	config    Config
	store     objstore.Store
	mirrors   []objstore.Store
	providers Providers
	environ   []string
	log       *slog.Logger
	now       func() time.Time
	http      *http.Client
	timeouts  Timeouts

	private ed25519.PrivateKey
	client  *repository.Client
	lock    *os.File
	memory  memory
	// known tells whether memory was there when the agent started.
	known bool
	// caughtUp tells whether the store was asked, since the agent started, for what
	// its environment's last writer left. A data folder may be an older copy.
	caughtUp bool
	// proved tells that the store is known to honour conditions.
	proved bool
	// shard is the part of the environment that the agent works on.
	shard control.Shard
	lease *lease.Lease
	// tenure is for how long the agent may change things under the lease; voice tells
	// those who may follow.
	tenure *lease.Tenure
	voice  *voice
	// ear takes clicks from Slack.
	ear *ear
	// awaited is the holder whose end this agent waits for, nil if it does not; watch is
	// what it has heard of it.
	awaited *awaited
	watch   lease.Watch
	replica *replica
	// compared is when this machine's clock was last compared with the store's.
	compared time.Time
	// around is what other shards have left, as it was read last.
	around map[control.Shard]left
	// life ends with the agent.
	life  context.Context //nolint:containedctx // of what outlasts a round
	end   context.CancelFunc
	state *states.State
	// lost says why the state on this machine cannot be used, until the store's is taken up.
	lost error
	// doubled says how it is known that another process goes by this agent's name.
	doubled error
	journal *journal.Journal
	read    lastRead
	// conflicts are the last comparison of this agent's scopes with those of others.
	conflicts comparison
	// lastJudged is the drift of the last round that judged any.
	lastJudged []guard.Judged
	// entries are what a process that died left in the journal.
	entries []journal.Entry
	// open are calls from before a crash that are not settled yet; absent are creates whose
	// object was not there, and may still appear. recovered are those that are settled, for
	// the next receipt.
	open, absent []journal.Intent
	recovered    []control.Change
	// carried is the state to which the journal's open intents were added last.
	carried stateName
	// expiring is the metadata of which was logged that it ends soon.
	expiring string
	// running is the revision that is loaded; last the one that was applied last, while
	// running waits for approval.
	running  *loaded
	last     *loaded
	policies policies
	interval time.Duration
	sealing  sealing
	secrets  *Secrets
	grants   *grantBook
	signals  signals
	metrics  *metrics
	// credentials are those of AWS, nil if there are none.
	credentials aws.CredentialsProvider
	// said is what the last receipt told.
	said gist
	// pace is how long a change took in the slowest round of late.
	pace time.Duration
}

// New opens an agent's data folder. Only one agent may run on it.
func New(config Config, opts Options) (*Agent, error) {
	if err := os.MkdirAll(config.DataDir, 0o700); err != nil {
		return nil, fmt.Errorf("make data folder: %w", err)
	}
	a := &Agent{config: config, store: opts.Store, mirrors: opts.Mirrors, providers: opts.Providers, environ: opts.Environ, log: opts.Logger, now: opts.Now, http: opts.HTTP, timeouts: opts.Timeouts.orDefault(), interval: defaultInterval, read: lastRead{}, secrets: opts.Secrets, credentials: opts.Credentials}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	if a.now == nil {
		a.now = time.Now
	}
	if a.http == nil {
		a.http = &http.Client{Timeout: notifyTimeout}
	}
	if a.secrets == nil {
		a.secrets = NewSecrets(opts.Environ)
	}
	a.log = a.secrets.Logger(a.log)
	a.life, a.end = context.WithCancel(context.Background())
	a.metrics = newMetrics()
	a.grants = &grantBook{folder: repository.OpenGrantFolder(config.DataDir, config.Environment)}
	a.tenure, a.replica, a.around = &lease.Tenure{}, &replica{agent: a}, map[control.Shard]left{}
	for _, step := range []func() error{a.lockFolder, a.openKey, a.openSealing, a.openClient, a.openMemory, a.openState, a.openVoice} {
		if err := step(); err != nil {
			return nil, errors.Join(err, a.Close())
		}
	}
	return a, nil
}

// defaultInterval is the time between rounds until the agent's document says otherwise.
const defaultInterval = time.Minute

// jitter is the largest share by which the time between rounds varies, so that a fleet spreads.
const jitter = 0.1

// Run does rounds until ctx ends, and takes clicks from Slack beside them. A round under way
// is then ended cleanly: calls in flight are waited for and recorded.
func (a *Agent) Run(ctx context.Context) {
	var listening sync.WaitGroup
	listening.Go(func() { a.Listen(ctx) })
	defer listening.Wait()
	for {
		a.Round(ctx)
		wait := time.Duration(float64(a.interval) * (1 + jitter*(2*rand.Float64()-1)))
		if !a.rest(ctx, wait) {
			return
		}
	}
}

// attention is the period of the words that the agent listens to or gives, 0 if there are none.
func (a *Agent) attention() time.Duration {
	if a.awaited != nil {
		return a.awaited.period
	}
	return a.voice.rhythm()
}

// urgent tells whether a round is due before its time: to take over, or to stand by for the
// agent that has taken over from this one.
func (a *Agent) urgent(ctx context.Context) bool {
	if a.awaited != nil {
		return a.listen(ctx)
	}
	return a.lease != nil && errors.Is(a.tenure.Holds(a.now()), lease.ErrFenced)
}

// Close ends the providers and gives the data folder back.
func (a *Agent) Close() error {
	var errs []error
	a.end()
	if a.voice != nil {
		a.voice.quiet()
	}
	a.dropLast()
	if a.running != nil {
		errs = append(errs, a.running.close())
	}
	if a.journal != nil {
		errs = append(errs, a.journal.Close())
	}
	if a.lock != nil {
		errs = append(errs, a.lock.Close())
	}
	return errors.Join(errs...)
}

// lockFolder makes sure that no other agent runs on the data folder.
func (a *Agent) lockFolder() error {
	file, err := os.OpenFile(filepath.Join(a.config.DataDir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("lock data folder: %w", err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return errors.Join(fmt.Errorf("another agent runs on the data folder %s; stop it, or give this one another data_dir", a.config.DataDir), file.Close())
	}
	a.lock = file
	return nil
}

func (a *Agent) openKey() error {
	key, err := loadKey(a.config.DataDir)
	if err != nil {
		return err
	}
	a.private = key.Ed25519()
	return nil
}

func (a *Agent) openClient() error {
	root, err := os.ReadFile(a.config.TrustedRoot)
	if err != nil {
		return fmt.Errorf("read trusted root: %w", err)
	}
	a.client, err = repository.NewClient(a.store, filepath.Join(a.config.DataDir, "repository"), root, a.mirrors...)
	return err
}

func (a *Agent) openMemory() (err error) {
	if a.memory, a.known, err = loadMemory(a.config.DataDir); err != nil {
		return err
	}
	a.shard = control.Shard{Environment: a.config.Environment, Name: a.memory.Shard}
	a.grants.take(repository.ClickedGrants(a.memory.Clicked))
	return a.openOutbox()
}

func (a *Agent) openVoice() error {
	a.voice = &voice{store: a.store, private: a.private, tenure: a.tenure, now: a.now}
	a.ear = a.newEar()
	return nil
}

// openState reads the local state and the journal of a process that died.
func (a *Agent) openState() (err error) {
	if a.state, a.lost, err = a.readState(); err != nil {
		return err
	}
	if a.journal, a.entries, err = journal.Open(a.statePath() + ".journal"); err != nil {
		return err
	}
	if a.lost != nil {
		a.log.Error("the state on this machine cannot be used; the store's is needed", "file", a.statePath(), "why", a.lost)
		return nil //nolint:nilerr // rounds fetch the state from the store
	}
	return a.replay()
}

// replay brings the state up to date with what a process that died had recorded.
func (a *Agent) replay() error {
	pending, err := journal.Replay(a.state, a.entries)
	if err != nil {
		return fmt.Errorf("read journal: %w", err)
	}
	a.open, a.absent = journal.Split(pending)
	a.recovered = recoveredChanges(a.entries, pending)
	a.secrets.learnState(a.state)
	return nil
}

// emptyJournal forgets the calls whose results are in the saved state.
func (a *Agent) emptyJournal() error {
	a.entries = nil
	open, at := slices.Concat(a.open, a.absent), stateName{a.memory.Epoch, a.memory.Serial}
	if at == a.carried && a.journal.Holds(open) {
		return nil // each time it would be one more batch in the store
	}
	a.replica.rebase(a.memory.Serial)
	if err := a.journal.Reset(open...); err != nil {
		return err
	}
	a.carried = at
	return nil
}

// recoveredChanges lists the calls in a journal that are known to have ended.
func recoveredChanges(entries []journal.Entry, open []journal.Intent) []control.Change {
	unknown := map[uint64]bool{}
	for _, intent := range open {
		unknown[intent.ID] = true
	}
	failed := map[uint64]bool{}
	for _, e := range entries {
		if e.Result != nil {
			failed[e.Result.ID] = e.Result.Failed
		}
	}
	var out []control.Change
	for _, e := range entries {
		if e.Intent != nil && !unknown[e.Intent.ID] {
			out = append(out, recoveredChange(*e.Intent, failed[e.Intent.ID]))
		}
	}
	return out
}

func recoveredChange(intent journal.Intent, failed bool) control.Change {
	result := "applied"
	if failed {
		result = "failed"
	}
	return control.Change{Address: intent.Address, Actions: []control.Action{control.Action(intent.Action)}, Result: result, Cause: "recovered"}
}

func (a *Agent) statePath() string { return filepath.Join(a.config.DataDir, "state.json") }

// holder names this agent in leases: another machine's agent of the same name has another key.
func (a *Agent) holder() string { return a.config.Agent + "/" + control.KeyID(a.publicHalf()) }

func (a *Agent) publicHalf() ed25519.PublicKey {
	public, _ := a.private.Public().(ed25519.PublicKey) // a private key's other half has no other type
	return public
}

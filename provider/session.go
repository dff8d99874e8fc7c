package provider

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore/open"
	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// errNoKey and errKeyUnknown: nothing can be signed.
var (
	errNoKey      = errors.New("there is no signing key")
	errKeyUnknown = errors.New("the signing key is not known yet")
	errNoTokenKey = errors.New("join tokens are derived from signatures, for which an ed25519 key is needed, in a file or an SSH agent; give one beside the others")
)

// session is what the provider's parts share: the keys, the clock, and the
// repositories in use. It is safe for concurrent use.
type session struct {
	now  func() time.Time
	keys trust.Keyring
	// keyUnknown: the key depends on what is not applied yet.
	keyUnknown bool
	// fingerprint is what every repository must have, "" for any.
	fingerprint string

	mu sync.Mutex
	// repositories by URL. Writes to one wait for each other instead of racing.
	repositories map[string]*repository.Repository
}

func newSession(now func() time.Time) *session {
	return &session{now: now, repositories: make(map[string]*repository.Repository)}
}

// signing is what every publication needs.
func (s *session) signing() (trust.Signing, error) {
	switch {
	case s.keyUnknown:
		return trust.Signing{}, errKeyUnknown
	case len(s.keys) == 0:
		return trust.Signing{}, errNoKey
	}
	return trust.Signing{Keys: s.keys, Now: s.now()}, nil
}

// foreseeSealing warns of an agent whose state nobody might be able to open once its
// machine is lost: keys that are not in files sign, and open nothing.
func (s *session) foreseeSealing(doc control.Declared) diag.Diagnostics {
	var diags diag.Diagnostics
	agent, ok := doc.(control.Agent)
	inFile := func(key trust.Signer) bool {
		_, ok := key.(trust.Key)
		return ok
	}
	if ok && len(agent.Recipients) == 0 && len(s.keys) > 0 && !slices.ContainsFunc(s.keys, inFile) {
		diags.AddAttributeWarning(path.Root("recipients"), "State may be lost with the agent's machine",
			"The state that the agent leaves in the store is sealed to the environment's agents and, because no recipients are declared, to the keys that sign for the environment. "+
				"The signing keys given here are kept by an SSH agent or AWS KMS, which open nothing. Set recipients to a key of AWS KMS (awskms:ARN), or to an age or SSH key that is kept elsewhere.")
	}
	return diags
}

// tokenKey is the key from which join tokens are derived: the first that signs the
// same twice.
func (s *session) tokenKey() (trust.Signer, diag.Diagnostics) {
	signing, err := s.signing()
	if err != nil {
		return nil, failure("issue", "a join token", err)
	}
	for _, key := range signing.Keys {
		if key.Public().SignsTheSameTwice() {
			return key, nil
		}
	}
	return nil, failure("issue", "a join token", errNoTokenKey)
}

// open returns the repository at a URL, whose first root must have the
// fingerprint; "" trusts whatever is there.
func (s *session) open(ctx context.Context, url, fingerprint string) (*repository.Repository, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.repositories[url]
	if !ok {
		store, err := open.Open(ctx, url)
		if err != nil {
			return nil, err
		}
		if known, err = repository.Open(ctx, store, ""); err != nil {
			return nil, err
		}
	}
	for _, want := range []string{fingerprint, s.fingerprint} {
		if want != "" && want != known.Fingerprint() {
			return nil, fmt.Errorf("%w: it has %s, and %s is expected", repository.ErrFingerprint, known.Fingerprint(), want)
		}
	}
	s.repositories[url] = known
	return known, nil
}

// remember makes the repository the one at its URL; nil forgets it.
func (s *session) remember(url string, r *repository.Repository) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.repositories, url)
	if r != nil {
		s.repositories[url] = r
	}
}

// root is a repository's first root.
type root struct{ text, fingerprint string }

func rootOf(r *repository.Repository) root { return root{string(r.Root()), r.Fingerprint()} }

func (s *session) root(ctx context.Context, url string) (root, error) {
	r, err := s.open(ctx, url, "")
	if err != nil {
		return root{}, err
	}
	return rootOf(r), nil
}

// declared reads a document; exists is false if it, its environment or the whole
// repository is not there.
func (s *session) declared(ctx context.Context, url string, ref control.Ref) (doc control.Declared, exists bool, err error) {
	r, err := s.open(ctx, url, "")
	if err == nil {
		doc, err = r.Document(ctx, ref)
	}
	if errors.Is(err, repository.ErrNotInitialised) || errors.Is(err, repository.ErrNotFound) || errors.Is(err, trust.ErrNoRole) {
		return nil, false, nil
	}
	return doc, err == nil, err
}

// publish declares a document.
func (s *session) publish(ctx context.Context, url string, doc control.Declared) error {
	signing, err := s.signing()
	if err != nil {
		return err
	}
	r, err := s.open(ctx, url, "")
	if err != nil {
		return err
	}
	if agent, ok := doc.(control.Agent); ok {
		if doc, err = withEarlier(ctx, r, agent); err != nil {
			return err
		}
	}
	_, err = r.PutDocuments(ctx, signing, doc)
	return err
}

// foreseeConflicts warns of overlaps with what is declared now. The same apply may
// resolve them, so it is only when the document is declared that they are refused.
func (s *session) foreseeConflicts(ctx context.Context, url string, doc control.Declared) diag.Diagnostics {
	r, err := s.open(ctx, url, "")
	if err != nil {
		return nil // a repository that is not there yet declares nothing
	}
	conflicts, err := r.Conflicts(ctx, doc)
	if err != nil {
		return nil // reading what is declared tells of it, or declaring
	}
	var diags diag.Diagnostics
	for _, conflict := range conflicts {
		diags.AddWarning("Scopes of different agents overlap", "As the repository is now, "+conflict.Error()+". Unless this run resolves it before, declaring "+doc.Ref().String()+" will be refused.")
	}
	return diags
}

// withEarlier adds to an agent's document the enrolments that the repository
// declares so far, by which the next machine believes what the last one wrote.
func withEarlier(ctx context.Context, r *repository.Repository, agent control.Agent) (control.Declared, error) {
	doc, err := r.Document(ctx, agent.Ref())
	if errors.Is(err, repository.ErrNotFound) || errors.Is(err, trust.ErrNoRole) {
		return agent, nil
	}
	declared, ok := doc.(control.Agent)
	if err != nil || !ok {
		return agent, err
	}
	agent.Earlier = declared.Earlier
	if declared.Join.Generation < agent.Join.Generation {
		agent.Earlier = append(slices.Clone(agent.Earlier), declared.Join)
	}
	agent.Earlier = agent.Earlier[max(0, len(agent.Earlier)-control.MaxEarlier):]
	return agent, nil
}

// remove withdraws a document. One that is gone, with its environment or its
// repository, needs no signature.
func (s *session) remove(ctx context.Context, url string, ref control.Ref) error {
	_, exists, err := s.declared(ctx, url, ref)
	if err != nil || !exists {
		return err
	}
	signing, err := s.signing()
	if err != nil {
		return err
	}
	r, err := s.open(ctx, url, "")
	if err != nil {
		return err
	}
	_, err = r.RemoveDocuments(ctx, signing, ref)
	return err
}

// create makes a repository.
func (s *session) create(ctx context.Context, url string, config repository.Config) (root, error) {
	signing, err := s.signing()
	if err != nil {
		return root{}, err
	}
	store, err := open.Open(ctx, url)
	if err != nil {
		return root{}, err
	}
	r, err := repository.Init(ctx, store, config, signing)
	if err != nil {
		return root{}, err
	}
	s.remember(url, r)
	return rootOf(r), nil
}

// config reads who may sign what in the repository with the fingerprint.
func (s *session) config(ctx context.Context, url, fingerprint string) (repository.Config, root, error) {
	r, err := s.open(ctx, url, fingerprint)
	if err != nil {
		return repository.Config{}, root{}, err
	}
	config, err := r.Config(ctx)
	return config, rootOf(r), err
}

// change changes who may sign what.
func (s *session) change(ctx context.Context, url, fingerprint string, config repository.Config) error {
	r, err := s.open(ctx, url, fingerprint)
	if err != nil {
		return err
	}
	if now, err := r.Config(ctx); err != nil || now.Equal(config) {
		return err
	}
	signing, err := s.signing()
	if err != nil {
		return err
	}
	_, err = r.Reconfigure(ctx, config, signing)
	return err
}

// nextGeneration is above every generation that a machine has ever claimed, so
// that a new agent under an old name is not taken for the old one.
func (s *session) nextGeneration(ctx context.Context, url string, ref control.Ref) (int, error) {
	r, err := s.open(ctx, url, "")
	if err != nil {
		return 0, err
	}
	next := 1
	prefix := control.AgentPrefix(ref.Environment, ref.Name) + "claim"
	for object, err := range r.Store().List(ctx, prefix) {
		if err != nil {
			return 0, fmt.Errorf("listing claims: %w", err)
		}
		next = max(next, claimedGeneration(object.Key, prefix)+1)
	}
	return next, nil
}

// claimedGeneration is the reverse of control.ClaimKey; 0 for any other key.
func claimedGeneration(key, prefix string) int {
	number, found := strings.CutSuffix(strings.TrimPrefix(key, prefix), ".json")
	switch {
	case !found:
		return 0
	case number == "":
		return 1
	}
	generation, err := strconv.Atoi(strings.TrimPrefix(number, "-"))
	if err != nil {
		return 0
	}
	return generation
}

// report tells what is known of an agent, trusting no more than the root given.
func (s *session) report(ctx context.Context, url string, trustedRoot []byte, ref control.Ref) (report, error) {
	r, err := s.open(ctx, url, repository.Fingerprint(trustedRoot))
	if err != nil {
		return report{}, err
	}
	doc, err := r.Document(ctx, ref)
	if err != nil {
		return report{}, err
	}
	agent, ok := doc.(control.Agent)
	if !ok {
		return report{}, fmt.Errorf("%s is not an agent", ref)
	}
	out := report{declared: agent}
	revisions, err := r.Revisions(ctx, agent.Channel)
	if err != nil && !errors.Is(err, trust.ErrNoRole) {
		return report{}, err
	}
	if len(revisions) > 0 {
		out.published = revisions[0].Digest
	}
	if endings, err := r.Endings(ctx); err == nil && endings[0].At.Before(s.now()) {
		out.doubts = append(out.doubts, fmt.Errorf("the repository's %s metadata expired at %s, so that newer declarations may be withheld", endings[0].Role, endings[0].At.Format(time.RFC3339)))
	}
	return out, out.listen(ctx, r.Store())
}

// hasRoot tells whether a store holds at least a repository's root.
func (s *session) hasRoot(ctx context.Context, url string) (bool, error) {
	store, err := open.Open(ctx, url)
	if err != nil {
		return false, err
	}
	_, err = repository.FetchRoot(ctx, store, "")
	if errors.Is(err, repository.ErrNotInitialised) {
		return false, nil
	}
	return err == nil, err
}

// destroy removes the repository with the fingerprint, or what is left of it.
func (s *session) destroy(ctx context.Context, url, fingerprint string, force bool) error {
	store, err := open.Open(ctx, url)
	if err != nil {
		return err
	}
	if _, err := s.open(ctx, url, fingerprint); errors.Is(err, repository.ErrFingerprint) {
		return err // it is somebody else's; whatever else is wrong with it may go
	}
	s.remember(url, nil)
	return repository.Destroy(ctx, store, force)
}

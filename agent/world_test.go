package agent_test

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/agent"
	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/bundle"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/objstore/mem"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/providers/providerstest"
	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// inProd is the shard of agents that name none.
var inProd = control.Shard{Environment: "prod"}

// thing is the only resource type of the tests' provider.
const thing = "cloud_thing"

// world is a repository, a cloud and one agent, with a clock that only the test moves.
type world struct {
	t     *testing.T
	store *flakyStore
	// mirrors are copies of the repository that the agent may read.
	mirrors []objstore.Store
	repo    *repository.Repository
	key     trust.Key
	token   ed25519.PrivateKey
	dir     string
	cloud   *providerstest.Provider
	slack   *slackServer
	// query is the query file that is published beside the configuration, "" for none.
	query string
	// log takes what the agent logs, nil for nothing.
	log *syncBuffer
	// slackURL is that of Slack's Web API, "" for Slack's own.
	slackURL string
	agent    *agent.Agent
	// identities are files with keys that open what earlier machines sealed.
	identities []string
	// recipients are those of the agent's document.
	recipients []string
	// references are the places of variables' values in the agent's configuration.
	references []agent.Reference
	// metrics is the file for metrics, "" for none.
	metrics string
	// credentials are those of AWS, nil if there are none.
	credentials aws.CredentialsProvider

	mu       sync.Mutex
	now      time.Time
	timeouts agent.Timeouts
	// calls makes changes of the cloud wait for each other.
	calls sync.Mutex
}

// flakyStore is a store that can be taken away.
type flakyStore struct {
	objstore.Store
	mu   sync.Mutex
	gone bool
}

func (s *flakyStore) set(gone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = gone
}

func (s *flakyStore) err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		return objstore.ErrUnavailable
	}
	return nil
}

func (s *flakyStore) Get(ctx context.Context, key string, limit int64) (objstore.Object, error) {
	if err := s.err(); err != nil {
		return objstore.Object{}, err
	}
	return s.Store.Get(ctx, key, limit)
}

func (s *flakyStore) Put(ctx context.Context, key string, data []byte) (objstore.Version, error) {
	if err := s.err(); err != nil {
		return "", err
	}
	return s.Store.Put(ctx, key, data)
}

func (s *flakyStore) PutIfAbsent(ctx context.Context, key string, data []byte) (objstore.Version, error) {
	if err := s.err(); err != nil {
		return "", err
	}
	return s.Store.PutIfAbsent(ctx, key, data)
}

func (s *flakyStore) List(ctx context.Context, prefix string) iter.Seq2[objstore.Info, error] {
	if err := s.err(); err != nil {
		return func(yield func(objstore.Info, error) bool) { yield(objstore.Info{}, err) }
	}
	return s.Store.List(ctx, prefix)
}

// slackServer takes the posts of an incoming webhook.
type slackServer struct {
	*httptest.Server
	mu    sync.Mutex
	posts []string
}

func newSlackServer(t *testing.T) *slackServer {
	s := &slackServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.posts = append(s.posts, string(body))
		s.mu.Unlock()
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *slackServer) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.posts
	s.posts = nil
	return out
}

func thingSchema() *providers.Schema {
	return &providers.Schema{
		Provider: &providers.Block{},
		ResourceTypes: providers.SchemaMap{thing: {Block: &providers.Block{Attributes: map[string]*providers.Attribute{
			"id":     {Type: cty.String, Computed: true},
			"name":   {Type: cty.String, Required: true},
			"size":   {Type: cty.Number, Optional: true},
			"note":   {Type: cty.String, Optional: true, Computed: true},
			"labels": {Type: cty.Map(cty.String), Optional: true},
			"secret": {Type: cty.String, Optional: true, Sensitive: true},
		}}}},
		DataSources: providers.SchemaMap{}, Ephemerals: providers.SchemaMap{},
	}
}

type cloudSource struct{ provider *keptOpen }

func (s cloudSource) Start(context.Context, addrs.Provider) (providers.Interface, tfdiags.Diagnostics) {
	return s.provider, nil
}

// keptOpen is a provider that outlives the engines that use it: its objects are the cloud.
type keptOpen struct{ *providerstest.Provider }

func (k *keptOpen) Close() error { return nil }

func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldIn(t, mem.New("world"))
}

// newWorldIn is a world whose repository is in some store.
func newWorldIn(t *testing.T, store objstore.Store) *world {
	t.Helper()
	w := &world{t: t, store: &flakyStore{Store: store}, dir: t.TempDir(), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		cloud: providerstest.New(thingSchema()), slack: newSlackServer(t)}
	var err error
	if w.key, err = trust.GenerateKey(); err != nil {
		t.Fatal(err)
	}
	if _, w.token, err = ed25519.GenerateKey(nil); err != nil {
		t.Fatal(err)
	}
	w.repo, err = repository.Init(t.Context(), w.store, repository.SingleKey(w.key.Public(), []string{"prod"}, []string{"stable"}), w.signing())
	if err != nil {
		t.Fatal(err)
	}
	w.writeFile("root.json", string(w.repo.Root()))
	recovery, err := w.key.PEM()
	if err != nil {
		t.Fatal(err)
	}
	w.writeFile("recovery.pem", string(recovery))
	w.identities = []string{filepath.Join(w.dir, "recovery.pem")}
	w.writeFile("token", seedText(w.token))
	w.writeFile("webhook", w.slack.URL)
	w.declare(w.agentDoc(), w.scope(control.DriftEnforce, 0))
	t.Cleanup(w.stop)
	return w
}

func seedText(token ed25519.PrivateKey) string {
	return base64.StdEncoding.EncodeToString(token.Seed())
}

func (w *world) signing() trust.Signing {
	return trust.Signing{Keys: trust.Keyring{w.key}, Now: w.clock()}
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func (w *world) writeFile(name, content string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(content), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) agentDoc() control.Agent {
	public, _ := w.token.Public().(ed25519.PublicKey)
	return control.Agent{
		Version: control.FormatVersion, Environment: "prod", Name: "a1", Channel: "stable", Scopes: []string{"all"}, PollInterval: control.Duration(time.Minute),
		Slack:      &control.Slack{WebhookFile: filepath.Join(w.dir, "webhook")},
		Recipients: w.recipients,
		Join:       control.Join{Generation: 1, PublicKey: control.EncodeKey(public), Expires: w.clock().Add(24 * 365 * time.Hour)},
	}
}

func (w *world) scope(mode control.DriftMode, grace time.Duration) control.Scope {
	return control.Scope{Version: control.FormatVersion, Environment: "prod", Name: "all", Include: []control.Match{{Address: "**"}},
		Drift: control.Drift{Mode: mode, Grace: control.Duration(grace)}}
}

func (w *world) declare(docs ...control.Declared) {
	w.t.Helper()
	if _, err := w.repo.PutDocuments(w.t.Context(), w.signing(), docs...); err != nil {
		w.t.Fatal(err)
	}
}

// publish publishes a root module of one file.
func (w *world) publish(config string) {
	w.t.Helper()
	dir := w.t.TempDir()
	files := map[string]string{"main.tf": config}
	if w.query != "" {
		files["all.tfquery.hcl"] = w.query
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			w.t.Fatal(err)
		}
	}
	archive, err := bundle.Pack(dir, bundle.DefaultLimits)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, _, err := w.repo.Publish(w.t.Context(), w.signing(), "stable", archive.Data, repository.Note{}); err != nil {
		w.t.Fatal(err)
	}
}

// made is how most tests begin: some documents are declared, and the agent has made two things.
func (w *world) made(docs ...control.Declared) {
	w.t.Helper()
	w.declare(docs...)
	w.publish(twoThings)
	w.round(control.OutcomeApplied)
}

// start starts the agent, or starts it again.
func (w *world) start() error {
	w.stop()
	a, err := w.openAgent(filepath.Join(w.dir, "data"))
	w.agent = a
	return err
}

// config is that of an agent on a data folder.
func (w *world) config(dir string) agent.Config {
	return agent.Config{
		Store: w.store.URL(), Environment: "prod", Agent: "a1", TrustedRoot: filepath.Join(w.dir, "root.json"), DataDir: dir,
		JoinToken: &agent.JoinToken{File: filepath.Join(w.dir, "token")}, Identities: w.identities, Variables: w.references, MetricsFile: w.metrics, SlackAPIURL: w.slackURL,
	}
}

// openAgent opens an agent on a data folder.
func (w *world) openAgent(dir string) (*agent.Agent, error) {
	var log *slog.Logger
	if w.log != nil {
		log = slog.New(slog.NewTextHandler(w.log, nil))
	}
	return agent.New(w.config(dir), agent.Options{Store: w.store, Logger: log, Mirrors: w.mirrors, Now: w.clock, Timeouts: w.timeouts, Providers: w.providers, Credentials: w.credentials})
}

// providers serves the world's cloud.
func (w *world) providers(string, agent.Requirements) (engine.ProviderSource, io.Closer, tfdiags.Diagnostics) {
	return cloudSource{&keptOpen{w.cloud}}, io.NopCloser(strings.NewReader("")), nil
}

// logged is what the agent logs from its next start on.
func (w *world) logged() *syncBuffer {
	w.log = &syncBuffer{}
	return w.log
}

func (w *world) stop() {
	if w.agent != nil {
		if err := w.agent.Close(); err != nil {
			w.t.Error(err)
		}
		w.agent = nil
	}
}

// round does a round a minute later and checks its outcome.
func (w *world) round(want control.Outcome) control.Receipt {
	w.t.Helper()
	if w.agent == nil {
		if err := w.start(); err != nil {
			w.t.Fatal(err)
		}
	}
	w.advance(time.Minute)
	got := w.agent.Round(w.t.Context())
	receipt := w.lastReceipt()
	if got != want {
		w.t.Fatalf("outcome %q, want %q: %+v", got, want, receipt)
	}
	return receipt
}

// lastReceipt returns the newest receipt in the store, after checking the chain.
func (w *world) lastReceipt() control.Receipt {
	w.t.Helper()
	receipts := w.receipts()
	if len(receipts) == 0 {
		return control.Receipt{}
	}
	return receipts[len(receipts)-1]
}

func (w *world) receipts() []control.Receipt {
	w.t.Helper()
	inner := w.store.Store
	var signed [][]byte
	for info, err := range inner.List(w.t.Context(), control.ReceiptPrefix("prod", "a1")) {
		if err != nil {
			w.t.Fatal(err)
		}
		object, err := inner.Get(w.t.Context(), info.Key, control.MaxDocument)
		if err != nil {
			w.t.Fatal(err)
		}
		signed = append(signed, object.Data)
	}
	if len(signed) == 0 {
		return nil
	}
	claim, err := inner.Get(w.t.Context(), control.ClaimKey("prod", "a1", 1), control.MaxDocument)
	if err != nil {
		w.t.Fatal(err)
	}
	_, key, err := control.OpenClaim(w.agentDoc(), claim.Data, w.clock())
	if err != nil {
		w.t.Fatal(err)
	}
	receipts, err := control.VerifyChain(key, signed)
	if err != nil {
		w.t.Fatal(err)
	}
	return receipts
}

// edit changes an attribute of the thing with a name behind the agent's back.
func (w *world) edit(name, attribute string, val cty.Value) {
	w.t.Helper()
	id, object := w.find(name)
	attrs := object.AsValueMap()
	attrs[attribute] = val
	w.cloud.SetObject(thing, id, cty.ObjectVal(attrs))
}

// resize changes a size as somebody does by hand.
func (w *world) resize(name string, size int64) {
	w.t.Helper()
	w.edit(name, "size", cty.NumberIntVal(size))
}

func (w *world) remove(name string) {
	w.t.Helper()
	id, _ := w.find(name)
	w.cloud.SetObject(thing, id, cty.NilVal)
}

func (w *world) find(name string) (string, cty.Value) {
	w.t.Helper()
	for _, id := range w.cloud.IDs(thing) {
		object := w.cloud.Object(thing, id)
		if object.GetAttr("name").AsString() == name {
			return id, object
		}
	}
	w.t.Fatalf("the cloud has no thing named %s", name)
	return "", cty.NilVal
}

// names lists the things in the cloud by name, sorted.
func (w *world) names() []string {
	var out []string
	for _, id := range w.cloud.IDs(thing) {
		out = append(out, w.cloud.Object(thing, id).GetAttr("name").AsString())
	}
	slices.Sort(out)
	return out
}

func (w *world) attribute(name, attribute string) cty.Value {
	w.t.Helper()
	_, object := w.find(name)
	return object.GetAttr(attribute)
}

func problems(r control.Receipt) string {
	var out []string
	for _, p := range r.Problems {
		out = append(out, p.Summary+": "+p.Detail)
	}
	return strings.Join(out, "\n")
}

package thirtydays

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/towline/terraform-provider-towline/agent"
	"github.com/towline/terraform-provider-towline/internal/bundle"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/objstore/mem"
	"github.com/towline/terraform-provider-towline/internal/plugin"
	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/simcloud"
	"github.com/towline/terraform-provider-towline/internal/simcloud/client"
	"github.com/towline/terraform-provider-towline/internal/simcloud/cloudapi"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// Options are what replays have in common.
type Options struct {
	// Config is the folder of the example's configuration.
	Config string
	// Dir is a folder for what agents keep.
	Dir string
	// Plugin is the provider's program; "" serves the provider in this process.
	Plugin string
}

// clock is the time that only the replay moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}

// site is a cloud with whoever writes to it: people, and agents or a pipeline.
type site struct {
	opts     Options
	dir      string
	clock    *clock
	cloud    *simcloud.Cloud
	server   *http.Server
	endpoint string
	// served are the providers in this process, one for each writer.
	served []*served

	// repo is what agents obey; none where a pipeline pushes.
	store   objstore.Store
	repo    *repository.Repository
	signing trust.Signing
	agents  map[string]*agent.Agent
	// declared are the agents' documents by environment.
	declared map[string]control.Agent
	engineer ssh.Signer
}

// newSite starts a cloud in which nothing is yet, but an object by hand in each
// namespace.
func newSite(ctx context.Context, opts Options) (s *site, err error) {
	s = &site{opts: opts, clock: &clock{now: begin}, agents: map[string]*agent.Agent{}, declared: map[string]control.Agent{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if s.dir, err = os.MkdirTemp(opts.Dir, "replay-"); err != nil {
		return s, fmt.Errorf("make a folder: %w", err)
	}
	if err := s.startCloud(); err != nil {
		return s, err
	}
	return s, s.makeUnmanaged(ctx)
}

// tokens are who may write where: an agent its environment, a pipeline everything.
var tokens = []string{"agent-dev=dev/*", "agent-staging=staging/*", "agent-prod=prod/*", "pipeline=*/*", "people=*/*"}

func (s *site) startCloud() (err error) {
	options := simcloud.Options{Seed: seed, Now: s.clock.read}
	for _, text := range tokens {
		token, err := simcloud.ParseToken(text)
		if err != nil {
			return err
		}
		options.Tokens = append(options.Tokens, token)
	}
	if s.cloud, err = simcloud.New(options); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("serve the cloud: %w", err)
	}
	s.endpoint = "http://" + listener.Addr().String()
	s.server = &http.Server{Handler: s.cloud, ReadHeaderTimeout: time.Minute}
	go func() { _ = s.server.Serve(listener) }() // it ends with close
	return nil
}

// provider returns what a writer finds the provider by, and the cloud for quick reads
// where the provider is in this process. One that is served keeps one configuration,
// and so one writer.
func (s *site) provider() (plugin.Locator, *simcloud.Cloud, error) {
	if s.opts.Plugin != "" {
		return program(s.opts.Plugin), nil, nil
	}
	served, err := serve()
	if err != nil {
		return nil, nil, err
	}
	s.served = append(s.served, served)
	return served, s.cloud, nil
}

// as is a client of the cloud for a person, who is named in its log.
func (s *site) as(actor string) (*client.Client, error) {
	return client.New(client.Config{Endpoint: s.endpoint, Token: "people", Actor: actor})
}

func (s *site) makeUnmanaged(ctx context.Context) error {
	people, err := s.as("people")
	if err != nil {
		return err
	}
	for _, environment := range Environments {
		for _, service := range Services {
			ref := cloudapi.Ref{Environment: environment, Service: service, Kind: "config", Name: unmanagedName}
			if _, err := people.Create(ctx, ref, map[string]any{"data": map[string]any{"made": "by hand"}}); err != nil {
				return fmt.Errorf("make an object by hand: %w", err)
			}
		}
	}
	return nil
}

// close ends everything and removes the folder.
func (s *site) close() error {
	var errs []error
	for _, a := range s.agents {
		errs = append(errs, a.Close())
	}
	for _, served := range s.served {
		served.close()
	}
	if s.server != nil {
		errs = append(errs, s.server.Close())
	}
	if s.cloud != nil {
		errs = append(errs, s.cloud.Close())
	}
	return errors.Join(append(errs, os.RemoveAll(s.dir))...)
}

// variables are what a writer's machine adds to the configuration.
func (s *site) variables(writer string) []string {
	return []string{"TF_VAR_endpoint=" + s.endpoint, "TF_VAR_token=" + writer, "TF_VAR_actor=" + writer}
}

// The names in the repository.
const (
	scopeName  = "all"
	policyName = "on-call"
)

// enrol makes the repository and an agent for each environment.
func (s *site) enrol(ctx context.Context, period time.Duration, means bool) error {
	key, err := trust.GenerateKey()
	if err != nil {
		return err
	}
	s.store, s.signing = mem.New("thirty-days"), trust.Signing{Keys: trust.Keyring{key}}
	config := repository.SingleKey(key.Public(), Environments, Environments)
	if s.repo, err = repository.Init(ctx, s.store, config, s.sign()); err != nil {
		return err
	}
	root := filepath.Join(s.dir, "root.json")
	if err := os.WriteFile(root, s.repo.Root(), 0o600); err != nil {
		return fmt.Errorf("write the trusted root: %w", err)
	}
	if err := s.makeEngineer(); err != nil {
		return err
	}
	for _, environment := range Environments {
		if err := s.addAgent(ctx, environment, root, period, means); err != nil {
			return fmt.Errorf("agent of %s: %w", environment, err)
		}
	}
	return nil
}

func (s *site) sign() trust.Signing {
	signing := s.signing
	signing.Now = s.clock.read()
	return signing
}

func (s *site) makeEngineer() error {
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return err
	}
	s.engineer, err = ssh.NewSignerFromKey(private)
	return err
}

// addAgent declares an agent that corrects everything at once, and starts it.
func (s *site) addAgent(ctx context.Context, environment, root string, period time.Duration, means bool) error {
	public, token, err := ed25519.GenerateKey(nil)
	if err != nil {
		return err
	}
	doc := control.Agent{Version: control.FormatVersion, Environment: environment, Name: "agent-" + environment, Channel: environment, Scopes: []string{scopeName},
		PollInterval: control.Duration(period), Join: control.Join{Generation: 1, PublicKey: control.EncodeKey(public), Expires: begin.AddDate(10, 0, 0)}}
	scope := control.Scope{Version: control.FormatVersion, Environment: environment, Name: scopeName, Include: []control.Match{{Provider: "towline/simcloud"}}, Drift: control.Drift{Mode: control.DriftEnforce}}
	docs := []control.Declared{doc, scope}
	if means {
		scope.Inventories = []control.Inventory{{Data: "list.simcloud_config.all", ID: "id"}}
		policy := control.BreakGlassPolicy{Version: control.FormatVersion, Environment: environment, Name: policyName, Scopes: []string{scopeName}, Approvals: 1, RequireReason: true,
			Approvers: []string{strings.TrimSpace(string(ssh.MarshalAuthorizedKey(s.engineer.PublicKey())))}, MaxDuration: control.Duration(grantFor), After: control.AfterHold}
		docs = []control.Declared{doc, scope, policy}
	}
	if _, err := s.repo.PutDocuments(ctx, s.sign(), docs...); err != nil {
		return err
	}
	s.declared[environment] = doc
	if err := s.publish(ctx, environment, 1); err != nil {
		return err
	}
	dir := filepath.Join(s.dir, environment)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	file := filepath.Join(dir, "token")
	if err := os.WriteFile(file, []byte(base64.StdEncoding.EncodeToString(token.Seed())), 0o600); err != nil {
		return fmt.Errorf("write the join token: %w", err)
	}
	locator, quick, err := s.provider()
	if err != nil {
		return err
	}
	a, err := agent.New(
		agent.Config{Store: s.store.URL(), Environment: environment, Agent: doc.Name, TrustedRoot: root, DataDir: filepath.Join(dir, "data"), JoinToken: &agent.JoinToken{File: file}},
		agent.Options{Store: s.store, Now: s.clock.read, Providers: providersOf(locator, quick), Environ: s.variables(doc.Name)})
	s.agents[environment] = a
	return err
}

// publish publishes the example with a release for one environment.
func (s *site) publish(ctx context.Context, environment string, release int) error {
	dir, err := s.revision(environment, fmt.Sprintf("release = \"%d\"\n", release))
	if err != nil {
		return err
	}
	archive, err := bundle.Pack(dir, bundle.DefaultLimits)
	if err != nil {
		return fmt.Errorf("pack the example: %w", err)
	}
	_, _, err = s.repo.Publish(ctx, s.sign(), environment, archive.Data, repository.Note{Message: fmt.Sprintf("release %d", release)})
	return errors.Join(err, os.RemoveAll(dir))
}

// revision makes a folder with the example and its variables.
func (s *site) revision(environment, variables string) (string, error) {
	dir, err := os.MkdirTemp(s.dir, "revision-")
	if err != nil {
		return "", fmt.Errorf("make a folder: %w", err)
	}
	if err := os.CopyFS(dir, os.DirFS(s.opts.Config)); err != nil {
		return "", fmt.Errorf("copy the example: %w", err)
	}
	text := fmt.Sprintf("environment = %q\n%s", environment, variables)
	if err := os.WriteFile(filepath.Join(dir, "terraform.tfvars"), []byte(text), 0o600); err != nil {
		return "", fmt.Errorf("write variables: %w", err)
	}
	return dir, nil
}

// round has the agent of an environment do a round.
func (s *site) round(ctx context.Context, environment string) error {
	outcome := s.agents[environment].Round(ctx)
	if outcome == control.OutcomeFailed || outcome == control.OutcomeRefused {
		receipt, err := s.lastReceipt(ctx, environment)
		return fmt.Errorf("a round in %s at %s was %s: %+v: %w", environment, s.clock.read(), outcome, receipt, errors.Join(err, errRound))
	}
	return nil
}

var errRound = errors.New("no round may fail")

// lastReceipt reads and verifies the newest receipt of an environment's agent.
func (s *site) lastReceipt(ctx context.Context, environment string) (control.Receipt, error) {
	receipts, err := s.receipts(ctx, environment, 1)
	if err != nil || len(receipts) == 0 {
		return control.Receipt{}, err
	}
	return receipts[0], nil
}

// receipts reads and verifies the newest receipts of an environment's agent, at most as
// many, oldest first.
func (s *site) receipts(ctx context.Context, environment string, most int) ([]control.Receipt, error) {
	doc := s.declared[environment]
	claim, err := s.store.Get(ctx, control.ClaimKey(environment, doc.Name, 1), control.MaxDocument)
	if err != nil {
		return nil, fmt.Errorf("read the claim: %w", err)
	}
	_, key, err := control.OpenClaim(doc, claim.Data, begin)
	if err != nil {
		return nil, err
	}
	var keys []string
	for info, err := range s.store.List(ctx, control.ReceiptPrefix(environment, doc.Name)) {
		if err != nil {
			return nil, fmt.Errorf("list receipts: %w", err)
		}
		keys = append(keys, info.Key)
	}
	var signed [][]byte
	for _, key := range keys[max(0, len(keys)-most):] {
		object, err := s.store.Get(ctx, key, control.MaxDocument)
		if err != nil {
			return nil, fmt.Errorf("read a receipt: %w", err)
		}
		signed = append(signed, object.Data)
	}
	return control.VerifyChain(key, signed)
}

// events reads the cloud's whole log.
func (s *site) events(ctx context.Context) ([]cloudapi.Event, error) {
	people, err := s.as("people")
	if err != nil {
		return nil, err
	}
	var out []cloudapi.Event
	after := int64(0)
	for {
		page, err := people.Events(ctx, after, cloudapi.MaxPage)
		if err != nil {
			return nil, fmt.Errorf("read the cloud's log: %w", err)
		}
		if len(page.Events) == 0 {
			return out, nil
		}
		out = append(out, page.Events...)
		after = out[len(out)-1].Sequence
	}
}

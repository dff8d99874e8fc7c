package provider_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/objstore/open"
	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/trust"
	"github.com/towline/terraform-provider-towline/provider"
)

// TestMain keeps the user's Terraform and Towline configuration out of the tests.
func TestMain(m *testing.M) {
	for _, name := range []string{"TF_CLI_CONFIG_FILE", "TOWLINE_SIGNING_KEY", "TOWLINE_SIGNING_KEY_FILE", "TOWLINE_FINGERPRINT"} {
		if err := os.Unsetenv(name); err != nil {
			panic(err)
		}
	}
	code := m.Run()
	stopSharedS3()
	removeBuilt()
	os.Exit(code)
}

// bench is a folder with a signing key and a store beside it.
type bench struct {
	t   *testing.T
	dir string
	url string
	key trust.Key
}

func newBench(t *testing.T) *bench {
	t.Helper()
	dir := t.TempDir()
	key, pem := newKey(t)
	b := &bench{t: t, dir: dir, url: "file://" + filepath.Join(dir, "store"), key: key}
	if err := os.Mkdir(filepath.Join(dir, "store"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(b.keyFile(), pem, 0o600); err != nil {
		t.Fatal(err)
	}
	return b
}

func newKey(t *testing.T) (trust.Key, []byte) {
	t.Helper()
	key, err := trust.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	pem, err := key.PEM()
	if err != nil {
		t.Fatal(err)
	}
	return key, pem
}

func (b *bench) keyFile() string { return filepath.Join(b.dir, "signing-key.pem") }

// with returns a configuration in which URL stands for the store's URL and DIR
// for the bench's folder.
func (b *bench) with(configs ...string) string {
	all := fmt.Sprintf("provider \"towline\" {\n  signing_key_file = %q\n}\n", b.keyFile()) + strings.Join(configs, "\n")
	return strings.NewReplacer(`"URL"`, fmt.Sprintf("%q", b.url), "URL#", b.url+"#", "DIR", b.dir).Replace(all)
}

func (b *bench) store() objstore.Store {
	b.t.Helper()
	store, err := open.Open(b.t.Context(), b.url)
	if err != nil {
		b.t.Fatal(err)
	}
	return store
}

func (b *bench) repository() *repository.Repository {
	b.t.Helper()
	r, err := repository.Open(b.t.Context(), b.store(), "")
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

func (b *bench) put(key string, data []byte) {
	b.t.Helper()
	if _, err := b.store().Put(b.t.Context(), key, data); err != nil {
		b.t.Fatal(err)
	}
}

// keys lists what the store holds.
func (b *bench) keys() []string {
	b.t.Helper()
	var keys []string
	for info, err := range b.store().List(b.t.Context(), "") {
		if err != nil {
			b.t.Fatal(err)
		}
		keys = append(keys, info.Key)
	}
	return keys
}

// apply runs the steps with the real terraform and destroys what they made.
func (b *bench) apply(steps ...resource.TestStep) {
	b.t.Helper()
	resource.UnitTest(b.t, resource.TestCase{
		ProtoV6ProviderFactories: map[string]func() (tfprotov6.ProviderServer, error){
			"towline": providerserver.NewProtocol6WithError(provider.New("test")()),
		},
		Steps: steps,
	})
}

// step expects an action on one resource and an empty plan afterwards.
func step(config, addr string, action plancheck.ResourceActionType, checks ...statecheck.StateCheck) resource.TestStep {
	return resource.TestStep{
		Config: config, ConfigStateChecks: checks,
		ConfigPlanChecks: resource.ConfigPlanChecks{
			PreApply:             []plancheck.PlanCheck{plancheck.ExpectResourceAction(addr, action)},
			PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
		},
	}
}

func refusal(config, want string) resource.TestStep {
	return resource.TestStep{Config: config, ExpectError: words(want)}
}

// words matches a text however Terraform has wrapped it.
func words(text string) *regexp.Regexp {
	var parts []string
	for word := range strings.FieldsSeq(text) {
		parts = append(parts, regexp.QuoteMeta(word))
	}
	return regexp.MustCompile(strings.Join(parts, `[\s│]+`))
}

func imported(addr, id string, ignore ...string) resource.TestStep {
	return resource.TestStep{
		ResourceName: addr, ImportState: true, ImportStateId: id, ImportStateVerify: true, ImportStateVerifyIgnore: ignore,
	}
}

const repositoryConfig = `
resource "towline_repository" "main" {
  url          = "URL"
  environments = { prod = {} }
  channels     = { stable = {} }
}
`

const scopeConfig = `
resource "towline_scope" "all" {
  repository  = towline_repository.main.url
  environment = "prod"
  name        = "all"
  include     = [{ address = "**" }]
}
`

const agentConfig = `
resource "towline_agent" "one" {
  repository      = towline_repository.main.url
  environment     = "prod"
  name            = "agent-1"
  channel         = "stable"
  scopes          = [towline_scope.all.name]
  join_token_file = "DIR/join-token"
}
`

// token reads the join token that the provider wrote.
func (b *bench) token() ed25519.PrivateKey {
	b.t.Helper()
	path := filepath.Join(b.dir, "join-token")
	info, err := os.Stat(path)
	if err != nil {
		b.t.Fatal(err)
	}
	if info.Mode() != fs.FileMode(0o600) {
		b.t.Errorf("the token's file has mode %s, want 0600", info.Mode())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		b.t.Fatal(err)
	}
	return tokenOf(b.t, string(text))
}

func tokenText(token ed25519.PrivateKey) string {
	return base64.StdEncoding.EncodeToString(token.Seed())
}

func tokenOf(t *testing.T, text string) ed25519.PrivateKey {
	t.Helper()
	seed, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil || len(seed) != ed25519.SeedSize {
		t.Fatalf("the token is no seed in base64: %v", err)
	}
	return ed25519.NewKeyFromSeed(seed)
}

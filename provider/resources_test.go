package provider_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

const (
	repositoryAddr = "towline_repository.main"
	scopeAddr      = "towline_scope.all"
	agentAddr      = "towline_agent.one"
)

func TestRepositoryInAFolder(t *testing.T) {
	t.Parallel()
	testStack(t, newBench(t))
}

// testStack declares one of each, changes each in place, imports each, and looks
// for what is left after destroying them.
func testStack(t *testing.T, b *bench) {
	policy := `
resource "towline_break_glass_policy" "all" {
  repository   = towline_repository.main.url
  environment  = "prod"
  name         = "all"
  scopes       = [towline_scope.all.name]
  approvers    = ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti ana"]
  max_duration = "90m"
}
resource "towline_policy" "all" {
  repository  = towline_repository.main.url
  environment = "prod"
  name        = "all"
  modules     = { "a.rego" = "package main\nimport rego.v1\ndeny contains \"no\" if input.errored" }
  warn_until  = "2030-01-31T12:00:00+01:00"
}
`
	first := b.with(repositoryConfig, scopeConfig, agentConfig, policy)
	second := b.with(
		strings.Replace(repositoryConfig, "prod = {}", "prod = {}\n dev = {}", 1),
		strings.Replace(scopeConfig, `[{ address = "**" }]`, `[{ address = "module.a.**" }, { type = "simcloud_*" }]
  exclude           = [{ address = "module.a.x" }]
  actions           = ["update", "create"]
  ignore_attributes = ["simcloud_config.labels"]
  max_deletes       = 0
  approval          = { approvers = ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti ana"], changes = true,
                        slack_users = { U012AB3CD = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti ana" } }
  drift             = { mode = "enforce", grace = "600s" }`, 1),
		strings.Replace(agentConfig, "join_token_file", `labels        = { zone = "a" }
  poll_interval = "30s"
  slack         = { webhook_env = "SLACK", channel = "#drift", bot_token_file = "/etc/towline/bot", app_token_ssm_parameter = "/towline/app" }
  recipients    = ["age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti"]
  join_token_file`, 1),
		strings.NewReplacer(`"90m"`, "\"2h\"\n require_reason = false\n after = \"hold\"\n slack_users = { U012AB3CD = \"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti ana\" }", "  warn_until  = ", "  enforcement = \"warn\"\n # ").Replace(policy),
	)
	changes := step(second, repositoryAddr, plancheck.ResourceActionUpdate)
	for _, addr := range []string{scopeAddr, agentAddr, "towline_break_glass_policy.all", "towline_policy.all"} {
		changes.ConfigPlanChecks.PreApply = append(changes.ConfigPlanChecks.PreApply, plancheck.ExpectResourceAction(addr, plancheck.ResourceActionUpdate))
	}
	notInDocument := []string{"join_token_file"}
	b.apply(
		step(first, repositoryAddr, plancheck.ResourceActionCreate),
		changes,
		imported(repositoryAddr, b.url),
		imported(scopeAddr, b.url+"#prod/all", "drift.grace"), // "600s" comes back as "10m"
		imported(agentAddr, b.url+"#prod/agent-1", notInDocument...),
		imported("towline_break_glass_policy.all", b.url+"#prod/all"),
		imported("towline_policy.all", b.url+"#prod/all"),
	)
	if left := b.keys(); len(left) > 0 {
		t.Errorf("after destroying, the store holds %v", left)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "join-token")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after destroying, the token's file: %v, want none", err)
	}
}

func TestDeclaredIsWhatAgentsRead(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	got := func(ref control.Ref) control.Declared {
		doc, err := b.repository().Document(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		return doc
	}
	config := b.with(repositoryConfig, scopeConfig, agentConfig)
	last := resource.TestStep{Config: config, PlanOnly: true, PreConfig: func() {
		agent, ok := got(control.Ref{Kind: control.KindAgent, Environment: "prod", Name: "agent-1"}).(control.Agent)
		if !ok || agent.Channel != "stable" || len(agent.Scopes) != 1 || agent.Join.PublicKey != publicOf(b.token()) || agent.Join.Generation != 1 {
			t.Errorf("agent %+v; want what the configuration says, with the token's public half", agent)
		}
		scope, ok := got(control.Ref{Kind: control.KindScope, Environment: "prod", Name: "all"}).(control.Scope)
		if !ok || scope.Drift.Mode != control.DriftObserve || scope.Include[0].Address != "**" {
			t.Errorf("scope %+v; want everything, observed", scope)
		}
	}}
	b.apply(resource.TestStep{Config: config}, last)
}

// TestScopeOfEveryPart declares a scope with all that there is, and finds it again as
// it was written.
func TestScopeOfEveryPart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	config := b.with(repositoryConfig, `
resource "towline_scope" "all" {
  repository  = towline_repository.main.url
  environment = "prod"
  name        = "all"
  include = [
    { module = "module.net", provider = "hashicorp/aws", except = ["tags[\"owner\"]"] },
    { type = "aws_instance", attributes = ["tags"] },
  ]
  exclude     = [{ address = "module.net.aws_vpc.old" }]
  max_share   = 30
  windows     = [{ days = ["fri", "mon"], from = "22:00", until = "04:00" }, { from = "12:00", until = "13:00" }]
  inventories = [{ data = "data.aws_instances.all", list = "ids" }, { data = "data.x.y", list = "objects", id = "id" }, { data = "list.aws_instance.all" }]
  drift = {
    mode        = "enforce"
    grace       = "10m"
    ignore      = ["aws_instance.tags"]
    rules       = [{ attributes = ["aws_instance.size", "aws_vpc.name"], mode = "observe" }, { attributes = ["aws_vpc.tags"], mode = "enforce", grace = "1h" }]
    oscillation = { times = 5, within = "2h", resumed = "2026-01-02T15:04:05Z" }
  }
}
`)
	share := 30
	want := control.Scope{
		Version: 1, Environment: "prod", Name: "all",
		Include: []control.Match{{Module: "module.net", Provider: "hashicorp/aws", Except: []string{`tags["owner"]`}}, {Type: "aws_instance", Attributes: []string{"tags"}}},
		Exclude: []control.Match{{Address: "module.net.aws_vpc.old"}}, MaxShare: &share,
		Windows:     []control.Window{{Days: []string{"fri", "mon"}, From: "22:00", Until: "04:00"}, {From: "12:00", Until: "13:00"}},
		Inventories: []control.Inventory{{Data: "data.aws_instances.all", List: "ids"}, {Data: "data.x.y", List: "objects", ID: "id"}, {Data: "list.aws_instance.all"}},
		Drift: control.Drift{Mode: control.DriftEnforce, Grace: control.Duration(10 * time.Minute), Ignore: []string{"aws_instance.tags"},
			Rules:       []control.DriftRule{{Attributes: []string{"aws_instance.size", "aws_vpc.name"}, Mode: control.DriftObserve}, {Attributes: []string{"aws_vpc.tags"}, Mode: control.DriftEnforce, Grace: control.Duration(time.Hour)}},
			Oscillation: &control.Oscillation{Times: 5, Within: control.Duration(2 * time.Hour), Resumed: time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)}},
	}
	again := resource.TestStep{Config: config, PlanOnly: true, PreConfig: func() {
		got, err := b.repository().Document(t.Context(), want.Ref())
		if diff := cmp.Diff(control.Declared(want), got); err != nil || diff != "" {
			t.Errorf("%v; declared (-want +got):\n%s", err, diff)
		}
	}}
	imported := resource.TestStep{Config: config, ResourceName: scopeAddr, ImportState: true, ImportStateVerify: true}
	b.apply(resource.TestStep{Config: config}, again, imported)
}

func TestOverlapIsRefusedWhenDeclared(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	second := strings.NewReplacer(`"all"`+"\n", `"more"`+"\n", `"towline_scope" "all"`, `"towline_scope" "more"`, `"**"`, `"aws_vpc.*"`).Replace(scopeConfig)
	agent := strings.NewReplacer("agent-1", "agent-2", `"towline_agent" "one"`, `"towline_agent" "two"`, "towline_scope.all.name", "towline_scope.more.name").Replace(agentConfig)
	b.apply(
		resource.TestStep{Config: b.with(repositoryConfig, scopeConfig, agentConfig)},
		resource.TestStep{Config: b.with(repositoryConfig, scopeConfig, agentConfig, second, agent), ExpectError: words("the scope all of agent agent-1 and the scope more of agent agent-2 overlap: both include aws_vpc.z")},
	)
}

func TestWhatOthersChangeIsSeen(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	config := b.with(repositoryConfig, scopeConfig)
	signing := trust.Signing{Keys: trust.Keyring{b.key}, Now: now()}
	ref := control.Ref{Kind: control.KindScope, Environment: "prod", Name: "all"}

	removed := step(config, scopeAddr, plancheck.ResourceActionCreate)
	removed.PreConfig = func() {
		if _, err := b.repository().RemoveDocuments(t.Context(), signing, ref); err != nil {
			t.Fatal(err)
		}
	}
	changed := step(config, scopeAddr, plancheck.ResourceActionUpdate)
	changed.PreConfig = func() {
		scope := control.Scope{Version: 1, Environment: "prod", Name: "all", Include: []control.Match{{Type: "x"}}, Drift: control.Drift{Mode: control.DriftEnforce}}
		if _, err := b.repository().PutDocuments(t.Context(), signing, scope); err != nil {
			t.Fatal(err)
		}
	}
	added := step(config, repositoryAddr, plancheck.ResourceActionUpdate)
	added.PreConfig = func() {
		r := b.repository()
		config, err := r.Config(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		config.Channels["odd"] = config.Channels["stable"]
		if _, err := r.Reconfigure(t.Context(), config, signing); err != nil {
			t.Fatal(err)
		}
	}
	vanished := step(config, repositoryAddr, plancheck.ResourceActionCreate)
	vanished.PreConfig = func() {
		if err := repository.Destroy(t.Context(), b.store(), true); err != nil {
			t.Fatal(err)
		}
	}
	b.apply(step(config, scopeAddr, plancheck.ResourceActionCreate), removed, changed, added, vanished)
}

func TestAnotherRepositoryInItsPlaceIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	config := b.with(repositoryConfig)
	swapped := refusal(config, "Repository is not the expected one")
	swapped.PreConfig = func() {
		if err := repository.Destroy(t.Context(), b.store(), true); err != nil {
			t.Fatal(err)
		}
		attacker, _ := newKey(t)
		_, err := repository.Init(t.Context(), b.store(), repository.SingleKey(attacker.Public(), []string{"prod"}, []string{"stable"}),
			trust.Signing{Keys: trust.Keyring{attacker}, Now: now()})
		if err != nil {
			t.Fatal(err)
		}
	}
	gone := resource.TestStep{Config: config, PreConfig: func() {
		if err := repository.Destroy(t.Context(), b.store(), true); err != nil {
			t.Fatal(err)
		}
	}}
	b.apply(resource.TestStep{Config: config}, swapped, gone)
}

func TestRepositoryInUseIsNotDestroyed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const foreign = "notes/of-somebody-else"
	state := control.Shard{Environment: "prod"}.StateKey(1, 1)
	inUse := refusal(b.with(""), "Repository is not empty")
	inUse.PreConfig = func() {
		b.put(state, []byte("{}"))
		b.put(foreign, []byte("x"))
	}
	force := strings.Replace(repositoryConfig, "url ", "force_destroy = true\n url ", 1)
	b.apply(resource.TestStep{Config: b.with(repositoryConfig)}, inUse, step(b.with(force), repositoryAddr, plancheck.ResourceActionUpdate))
	if left := b.keys(); len(left) != 1 || left[0] != foreign {
		t.Errorf("after destroying by force, the store holds %v, want only %s", left, foreign)
	}
}

func TestKeysAndThresholds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	other, _ := newKey(t)
	_, thirdPEM := newKey(t)
	block := func(environments string) string {
		return b.with("resource \"towline_repository\" \"main\" {\n url = \"URL\"\n channels = { stable = {} }\n environments = {\n" + environments + "\n}\n}\n")
	}
	keys := tfjsonpath.New("environments").AtMapKey("prod").AtMapKey("keys")
	own, two := knownvalue.StringExact(b.key.Public().String()), "prod = { keys = [\""+other.Public().String()+"\", \""+b.key.Public().String()+"\"]"
	newSigner := strings.Replace(block("prod = {}"), b.keyFile(), filepath.Join(b.dir, "third.pem"), 1)
	if err := os.WriteFile(filepath.Join(b.dir, "third.pem"), thirdPEM, 0o600); err != nil {
		t.Fatal(err)
	}
	b.apply(
		step(block("prod = {}"), repositoryAddr, plancheck.ResourceActionCreate,
			statecheck.ExpectKnownValue(repositoryAddr, keys, knownvalue.SetExact([]knownvalue.Check{own}))),
		refusal(block("prod = { threshold = 2 }"), "Role cannot be signed for"),
		refusal(block(`prod = { keys = ["nonsense"] }`), "must be an ed25519 or ECDSA P-256 public key"),
		step(block(two+" }"), repositoryAddr, plancheck.ResourceActionUpdate,
			statecheck.ExpectKnownValue(repositoryAddr, keys, knownvalue.SetSizeExact(2)),
			statecheck.ExpectKnownValue(repositoryAddr, tfjsonpath.New("publishing").AtMapKey("keys"), knownvalue.SetSizeExact(2))),
		// Another signing key is no reason to trust it.
		resource.TestStep{Config: newSigner, PlanOnly: true, ExpectNonEmptyPlan: false},
		refusal(strings.Replace(newSigner, "prod = {}", "prod = {}\n dev = {}", 1), "Signing key does not suffice"),
	)
}

func TestPublicKeysMayBePEM(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	config := b.with("resource \"towline_repository\" \"main\" {\n url = \"URL\"\n channels = { stable = {} }\n environments = { prod = { keys = [<<-EOT\n" + publicPEM(t, b.key) + "EOT\n] } }\n}\n")
	b.apply(step(config, repositoryAddr, plancheck.ResourceActionCreate))
}

func TestAnExistingDeclarationIsNotTakenOver(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	twin := strings.Replace(scopeConfig, `"all" {`, `"twin" {`, 1) + "\n"
	b.apply(
		resource.TestStep{Config: b.with(repositoryConfig, scopeConfig)},
		refusal(b.with(repositoryConfig, scopeConfig, twin), "Document is already declared"),
		refusal(b.with(repositoryConfig, scopeConfig, strings.Replace(repositoryConfig, `"main"`, `"twin"`, 1)), "Repository already exists"),
	)
}

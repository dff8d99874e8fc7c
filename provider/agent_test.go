package provider_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

func now() time.Time { return time.Now().UTC().Truncate(time.Second) }

func publicOf(key ed25519.PrivateKey) string {
	public, ok := key.Public().(ed25519.PublicKey)
	if !ok {
		return ""
	}
	return control.EncodeKey(public)
}

func publicPEM(t *testing.T, key trust.Key) string {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(key.Ed25519().Public())
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

// enrol does what an agent does at its first boot, with the token that the
// provider wrote, and returns the agent's key.
func (b *bench) enrol(generation int, token ed25519.PrivateKey) ed25519.PrivateKey {
	b.t.Helper()
	_, own, err := ed25519.GenerateKey(nil)
	if err != nil {
		b.t.Fatal(err)
	}
	claim, err := control.SignClaim(control.Claim{
		Version: control.FormatVersion, Environment: "prod", Agent: "agent-1", Generation: generation, AgentKey: publicOf(own), Time: now(),
	}, token, own)
	if err != nil {
		b.t.Fatal(err)
	}
	b.put(control.ClaimKey("prod", "agent-1", generation), claim)
	return own
}

// agent reads the document of agent-1.
func (b *bench) agent() control.Agent {
	b.t.Helper()
	repo, err := repository.Open(b.t.Context(), b.store(), "")
	if err != nil {
		b.t.Fatal(err)
	}
	doc, err := repo.Document(b.t.Context(), control.Ref{Kind: control.KindAgent, Environment: "prod", Name: "agent-1"})
	if err != nil {
		b.t.Fatal(err)
	}
	agent, ok := doc.(control.Agent)
	if !ok {
		b.t.Fatalf("%T is no agent", doc)
	}
	return agent
}

// beat writes a heartbeat signed by the key.
func (b *bench) beat(key ed25519.PrivateKey, revision string, drift int) {
	b.t.Helper()
	beat, err := control.Sign(control.Heartbeat{
		Version: control.FormatVersion, Environment: "prod", Agent: "agent-1", Time: now().Add(-time.Hour), AgentVersion: "1.2.3",
		Epoch: 1, Sequence: 1, Channel: "stable", Revision: revision, Outcome: control.OutcomeConverged, Drift: drift, Objects: 7,
	}, key)
	if err != nil {
		b.t.Fatal(err)
	}
	b.put(control.HeartbeatKey("prod", "agent-1"), beat)
}

const agentDataConfig = `
data "towline_agent" "one" {
  repository   = "URL"
  environment  = "prod"
  name         = "agent-1"
  trusted_root = towline_repository.main.trusted_root
  depends_on   = [towline_agent.one]
}
`

func TestAgentReports(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	config := b.with(repositoryConfig, scopeConfig, agentConfig, agentDataConfig)
	var own ed25519.PrivateKey
	var revision repository.Revision
	reports := func(_ string, do func(), values map[string]knownvalue.Check) resource.TestStep {
		s := resource.TestStep{Config: config, PreConfig: do}
		for attribute, want := range values {
			s.ConfigStateChecks = append(s.ConfigStateChecks, statecheck.ExpectKnownValue("data.towline_agent.one", tfjsonpath.New(attribute), want))
		}
		return s
	}
	unknown := map[string]knownvalue.Check{"live_revision": knownvalue.Null(), "proof_age_seconds": knownvalue.Null(), "up_to_date": knownvalue.Bool(false)}
	and := func(more map[string]knownvalue.Check) map[string]knownvalue.Check {
		for name, check := range unknown {
			if _, ok := more[name]; !ok {
				more[name] = check
			}
		}
		return more
	}
	b.apply(
		reports("declared", nil, and(map[string]knownvalue.Check{
			"enrolled": knownvalue.Bool(false), "channel": knownvalue.StringExact("stable"), "published_revision": knownvalue.Null(),
		})),
		reports("enrolled", func() { own = b.enrol(1, b.token()) }, and(map[string]knownvalue.Check{"enrolled": knownvalue.Bool(true)})),
		reports("a heartbeat of somebody else", func() {
			_, thief, err := ed25519.GenerateKey(nil)
			if err != nil {
				t.Fatal(err)
			}
			b.beat(thief, "stolen", 0)
		}, and(map[string]knownvalue.Check{"enrolled": knownvalue.Bool(true)})),
		reports("live", func() {
			revision = b.publish([]byte("content"))
			b.beat(own, revision.Digest, 3)
		}, map[string]knownvalue.Check{
			"enrolled": knownvalue.Bool(true), "up_to_date": knownvalue.Bool(true), "drift_count": knownvalue.Int64Exact(3), "objects": knownvalue.Int64Exact(7),
			"outcome": knownvalue.StringExact("converged"), "agent_version": knownvalue.StringExact("1.2.3"), "message": knownvalue.Null(),
			"proof_age_seconds": knownvalue.Int64Func(func(age int64) error { return between(age, 3600, 3900) }),
		}),
		reports("behind", func() { b.publish([]byte("newer content")) }, map[string]knownvalue.Check{
			"up_to_date": knownvalue.Bool(false), "live_revision": knownvalue.NotNull(), "published_revision": knownvalue.NotNull(),
		}),
		resource.TestStep{Config: b.with(strings.Replace(repositoryConfig, "url ", "force_destroy = true\n url ", 1), scopeConfig, agentConfig)},
	)
}

func (b *bench) publish(content []byte) repository.Revision {
	b.t.Helper()
	revision, _, err := b.repository().Publish(b.t.Context(), trust.Signing{Keys: trust.Keyring{b.key}, Now: now()}, "stable", content, repository.Note{})
	if err != nil {
		b.t.Fatal(err)
	}
	return revision
}

func between(got, low, high int64) error {
	if got < low || got > high {
		return fmt.Errorf("%d is not between %d and %d", got, low, high)
	}
	return nil
}

func TestClaimOfAnotherTokenIsDoubted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	config := b.with(repositoryConfig, scopeConfig, agentConfig, agentDataConfig)
	forged := resource.TestStep{
		Config: config,
		PreConfig: func() {
			_, thief, err := ed25519.GenerateKey(nil)
			if err != nil {
				t.Fatal(err)
			}
			b.beat(b.enrol(1, thief), "stolen", 0)
		},
		ConfigStateChecks: []statecheck.StateCheck{
			statecheck.ExpectKnownValue("data.towline_agent.one", tfjsonpath.New("enrolled"), knownvalue.Bool(false)),
			statecheck.ExpectKnownValue("data.towline_agent.one", tfjsonpath.New("live_revision"), knownvalue.Null()),
		},
	}
	b.apply(resource.TestStep{Config: config}, forged)
}

func TestNewTokenEndsTheEnrolment(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	config := func(extra string) string {
		return b.with(repositoryConfig, scopeConfig, strings.Replace(agentConfig, "join_token_file", extra+"\n join_token_file", 1), agentDataConfig)
	}
	var first ed25519.PrivateKey
	generation := func(want int64) statecheck.StateCheck {
		return statecheck.ExpectKnownValue(agentAddr, tfjsonpath.New("join_generation"), knownvalue.Int64Exact(want))
	}
	enrolled := func(want bool) statecheck.StateCheck {
		return statecheck.ExpectKnownValue("data.towline_agent.one", tfjsonpath.New("enrolled"), knownvalue.Bool(want))
	}
	lifetime := step(config(`join_token_lifetime = "1h"`), agentAddr, plancheck.ResourceActionUpdate, generation(1), enrolled(true))
	lifetime.PreConfig = func() {
		first = b.token()
		b.enrol(1, first)
	}
	renewed := step(config("join_token_version = 7"), agentAddr, plancheck.ResourceActionUpdate, generation(2), enrolled(false))
	again := resource.TestStep{Config: config("join_token_version = 7"), PlanOnly: true, PreConfig: func() {
		if bytes.Equal(first, b.token()) {
			t.Error("the new token is the old one")
		}
		if doc := b.agent(); len(doc.Earlier) != 1 || doc.Earlier[0].PublicKey != publicOf(first) || doc.Earlier[0].Generation != 1 {
			t.Errorf("the enrolment before is not kept: %+v", doc.Earlier)
		}
		b.enrol(2, b.token())
	}}
	removed := resource.TestStep{Config: b.with(repositoryConfig, scopeConfig)}
	// A new agent under the old name must not be taken for the machine that had it.
	back := step(config(""), agentAddr, plancheck.ResourceActionCreate, generation(3), enrolled(false))
	b.apply(step(config(""), agentAddr, plancheck.ResourceActionCreate, generation(1), enrolled(false)), lifetime, renewed, again, removed, back)
}

func TestTokenFileThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	nowhere := strings.Replace(agentConfig, "DIR/join-token", "DIR/absent/join-token", 1)
	b.apply(
		refusal(b.with(repositoryConfig, scopeConfig, nowhere), "Join token cannot be written"),
		// Nothing was declared, so that the next attempt starts from nothing.
		step(b.with(repositoryConfig, scopeConfig, agentConfig), agentAddr, plancheck.ResourceActionCreate),
	)
}

func TestTokenFileOfSomebodyElseStays(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	file := filepath.Join(b.dir, "join-token")
	config := b.with(repositoryConfig, scopeConfig, agentConfig)
	b.apply(resource.TestStep{Config: config}, resource.TestStep{Config: config, PlanOnly: true, PreConfig: func() {
		if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}})
	if text, err := os.ReadFile(file); err != nil || string(text) != "mine" {
		t.Errorf("after destroying, the file holds %q, %v; want what somebody put there", text, err)
	}
}

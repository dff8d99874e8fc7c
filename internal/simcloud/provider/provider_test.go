package provider_test

import (
	"fmt"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/towline/terraform-provider-towline/internal/simcloud"
	"github.com/towline/terraform-provider-towline/internal/simcloud/client"
	"github.com/towline/terraform-provider-towline/internal/simcloud/cloudapi"
	"github.com/towline/terraform-provider-towline/internal/simcloud/provider"
)

// TestMain keeps the user's Terraform configuration out of the tests.
func TestMain(m *testing.M) {
	for _, name := range []string{"TF_CLI_CONFIG_FILE", "SIMCLOUD_ENDPOINT", "SIMCLOUD_TOKEN", "SIMCLOUD_ACTOR"} {
		if err := os.Unsetenv(name); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// cloud is a simulated cloud and what talks to it.
type cloud struct {
	url  string
	hand *client.Client
}

func startCloud(t *testing.T, opts simcloud.Options) *cloud {
	t.Helper()
	running, err := simcloud.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(running)
	t.Cleanup(server.Close)
	hand, err := client.New(client.Config{Endpoint: server.URL, Actor: "hand", Token: "all"})
	if err != nil {
		t.Fatal(err)
	}
	return &cloud{server.URL, hand}
}

// with returns a configuration for this cloud.
func (c *cloud) with(config string) string {
	return fmt.Sprintf("provider \"simcloud\" {\n  endpoint = %q\n}\n%s", c.url, config)
}

func apply(t *testing.T, steps ...resource.TestStep) {
	t.Helper()
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: map[string]func() (tfprotov6.ProviderServer, error){
			"simcloud": func() (tfprotov6.ProviderServer, error) { return provider.NewServer("test"), nil },
		},
		Steps: steps,
	})
}

// expect is a step whose plan takes the action and whose next plan is empty.
func expect(config, addr string, action plancheck.ResourceActionType, checks ...statecheck.StateCheck) resource.TestStep {
	return resource.TestStep{
		Config: config, ConfigStateChecks: checks,
		ConfigPlanChecks: resource.ConfigPlanChecks{
			PreApply:             []plancheck.PlanCheck{plancheck.ExpectResourceAction(addr, action)},
			PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
		},
	}
}

// lives are, for each kind, a configuration, one that changes it in place, and one that needs another object.
var lives = map[string]struct{ made, changed, replaced string }{
	"deployment": {
		`replicas = 2
		 labels = { app = "web" }
		 container {
		   name  = "app"
		   image = "registry.example/app:1.0"
		   cpu   = 0.1
		   env   = { MODE = "fast", EMPTY = "" }
		   port {
		     name   = "http"
		     number = 8080
		   }
		 }
		 container {
		   name    = "sidecar"
		   image   = "proxy:2"
		   command = []
		 }`,
		`replicas = 3
		 strategy = { type = "recreate" }
		 container {
		   name  = "app"
		   image = "registry.example/app:1.1"
		   cpu   = 1.3
		 }`,
		`architecture = "arm64"
		 container {
		   name  = "app"
		   image = "registry.example/app:1.1"
		 }`,
	},
	"service": {
		`selector = { app = "web" }
		 ports    = [{ name = "http", port = 80, target_port = 8080 }, { name = "metrics", port = 9090 }]
		 allowed_cidrs = ["10.0.0.0/8", "192.168.0.0/16"]`,
		`selector = { app = "web" }
		 type     = "public"
		 ports    = [{ name = "metrics", port = 9090 }, { name = "http", port = 81 }]
		 session_affinity = true
		 allowed_cidrs    = []`,
		"",
	},
	"config": {
		`data = { A = "1", "with space" = "<&>" }`,
		`data      = { A = "2" }
		 `,
		`data   = { A = "2" }
		 format = "json"`,
	},
	"secret_claim": {
		`keepers = { rotation = "1" }
		 usage   = ["read", "write"]`,
		`keepers   = { rotation = "1" }
		 ttl_hours = 24`,
		`keepers   = { rotation = "2" }
		 ttl_hours = 24`,
	},
	"scheduled_job": {
		`schedule = "0 3 * * *"
		 image    = "report:1"
		 command  = ["report", "--all"]`,
		`schedule = "*/10 1-5 * * 1,3"
		 image    = "report:1"
		 suspend  = true
		 history {
		   successful = 3
		   failed     = 1
		 }`,
		"",
	},
	"network_rule": {
		`direction = "ingress"
		 priority  = 100
		 ports     = [443, 80]
		 peer {
		   cidr   = "10.0.0.0/8"
		   except = ["10.1.0.0/16"]
		 }
		 peer {
		   service = "pay"
		 }`,
		`direction = "ingress"
		 priority  = 200
		 action    = "deny"
		 logging   = true`,
		`direction = "egress"
		 priority  = 200`,
	},
}

func TestEveryKindLives(t *testing.T) {
	t.Parallel()
	if len(lives) != len(cloudapi.Kinds) {
		t.Fatalf("%d lives for %d kinds", len(lives), len(cloudapi.Kinds))
	}
	for kind, life := range lives {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			c := startCloud(t, simcloud.Options{})
			addr := "simcloud_" + kind + ".this"
			config := func(name, body string) string {
				return c.with(fmt.Sprintf("resource \"simcloud_%s\" \"this\" {\nenvironment = \"prod\"\nservice = \"shop\"\nname = %q\n%s\n}\n", kind, name, body))
			}
			replaced, name := life.replaced, "main"
			if replaced == "" {
				replaced, name = life.changed, "other"
			}
			apply(t,
				expect(config("main", life.made), addr, plancheck.ResourceActionCreate),
				resource.TestStep{ResourceName: addr, ImportState: true, ImportStateId: "prod/shop/main", ImportStateVerify: true},
				expect(config("main", life.changed), addr, plancheck.ResourceActionUpdate),
				expect(config(name, replaced), addr, plancheck.ResourceActionDestroyBeforeCreate),
				expect(config(name, life.made), addr, actionBack(kind)),
			)
			left, err := c.hand.List(t.Context(), cloudapi.Ref{})
			if err != nil || len(left) != 0 {
				t.Errorf("after destroying, %d objects are left, %v", len(left), err)
			}
		})
	}
}

// actionBack is how the last configuration of a kind's life becomes the first again.
func actionBack(kind string) plancheck.ResourceActionType {
	if lives[kind].replaced == "" {
		return plancheck.ResourceActionUpdate
	}
	return plancheck.ResourceActionDestroyBeforeCreate
}

const web = `
resource "simcloud_deployment" "web" {
  environment = "prod"
  service     = "shop"
  name        = "web"
  replicas    = 2
  container {
    name  = "app"
    image = "app:1"
  }
}
`

var webRef = cloudapi.Ref{Environment: "prod", Service: "shop", Kind: "deployment", Name: "web"}

func TestDriftIsSeenAndCorrected(t *testing.T) {
	t.Parallel()
	c := startCloud(t, simcloud.Options{})
	patch := func(attributes map[string]any) func() {
		return func() {
			if _, err := c.hand.Patch(t.Context(), webRef, attributes); err != nil {
				t.Errorf("changing by hand: %v", err)
			}
		}
	}
	const addr = "simcloud_deployment.web"
	replicas := statecheck.ExpectKnownValue(addr, tfjsonpath.New("replicas"), knownvalue.Int64Exact(2))

	set := expect(c.with(web), addr, plancheck.ResourceActionUpdate, replicas)
	set.PreConfig = patch(map[string]any{"replicas": 9})
	unset := expect(c.with(web), addr, plancheck.ResourceActionNoop,
		statecheck.ExpectKnownValue(addr, tfjsonpath.New("node_pool"), knownvalue.StringExact("by-hand")))
	unset.PreConfig = patch(map[string]any{"node_pool": "by-hand"})
	added := expect(c.with(web), addr, plancheck.ResourceActionUpdate,
		statecheck.ExpectKnownValue(addr, tfjsonpath.New("labels"), knownvalue.Null()),
		statecheck.ExpectKnownValue(addr, tfjsonpath.New("node_pool"), knownvalue.StringExact("by-hand")))
	added.PreConfig = patch(map[string]any{"labels": map[string]any{"by": "hand"}})
	deleted := expect(c.with(web), addr, plancheck.ResourceActionCreate, replicas)
	deleted.PreConfig = func() {
		if err := c.hand.Delete(t.Context(), webRef); err != nil {
			t.Errorf("deleting by hand: %v", err)
		}
	}
	apply(t, expect(c.with(web), addr, plancheck.ResourceActionCreate), set, unset, added, deleted)
}

func TestSecretIsSensitiveAndKept(t *testing.T) {
	t.Parallel()
	c := startCloud(t, simcloud.Options{})
	config := func(rest string) string {
		return c.with("resource \"simcloud_secret_claim\" \"db\" {\nenvironment = \"prod\"\nservice = \"shop\"\nname = \"db\"\n" + rest + "\n}\n")
	}
	const addr = "simcloud_secret_claim.db"
	token := tfjsonpath.New("token")
	same := statecheck.CompareValue(&sameValue{})
	apply(t,
		expect(config(""), addr, plancheck.ResourceActionCreate,
			statecheck.ExpectSensitiveValue(addr, token), same.AddStateValue(addr, token),
			statecheck.ExpectKnownValue(addr, token, knownvalue.StringRegexp(regexp.MustCompile(`^[0-9a-f]{32}$`)))),
		expect(config("ttl_hours = 1"), addr, plancheck.ResourceActionUpdate, same.AddStateValue(addr, token)),
	)
}

// sameValue fails when a value differs from the first.
type sameValue struct{}

func (*sameValue) CompareValues(values ...any) error {
	for _, value := range values[1:] {
		if value != values[0] {
			return fmt.Errorf("the value changed")
		}
	}
	return nil
}

func TestDataSources(t *testing.T) {
	t.Parallel()
	c := startCloud(t, simcloud.Options{})
	apply(t, resource.TestStep{
		Config: c.with(web + `
data "simcloud_object" "web" {
  environment = "prod"
  service     = "shop"
  kind        = "deployment"
  name        = simcloud_deployment.web.name
}
data "simcloud_namespace" "shop" {
  environment = "prod"
  service     = "shop"
  depends_on  = [simcloud_deployment.web]
}
output "replicas" {
  value = jsondecode(data.simcloud_object.web.attributes_json).replicas
}`),
		ConfigStateChecks: []statecheck.StateCheck{
			statecheck.ExpectKnownOutputValue("replicas", knownvalue.Int64Exact(2)),
			statecheck.ExpectSensitiveValue("data.simcloud_object.web", tfjsonpath.New("status_json")),
			statecheck.ExpectKnownValue("data.simcloud_namespace.shop", tfjsonpath.New("objects"), knownvalue.ListExact([]knownvalue.Check{
				knownvalue.ObjectPartial(map[string]knownvalue.Check{"kind": knownvalue.StringExact("deployment"), "name": knownvalue.StringExact("web")}),
			})),
		},
	})
}

func TestMistakesAreExplained(t *testing.T) {
	t.Parallel()
	token, err := simcloud.ParseToken("all=*/*")
	if err != nil {
		t.Fatal(err)
	}
	guarded := startCloud(t, simcloud.Options{Tokens: []simcloud.Token{token}})
	open := startCloud(t, simcloud.Options{})
	if _, err := open.hand.Create(t.Context(), webRef, map[string]any{"container": []any{map[string]any{"name": "a", "image": "a"}}}); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct{ config, want string }{
		"object exists":   {open.with(web), "Object already exists"},
		"no token":        {guarded.with(web), "Cloud refused access"},
		"no endpoint":     {web, "Endpoint is not usable"},
		"bad name":        {open.with(strings.Replace(web, `"shop"`, `"Shop"`, 1)), "Attribute is not valid"},
		"bad image":       {open.with(strings.Replace(web, `"app:1"`, `"App 1"`, 1)), "must be an image reference"},
		"out of range":    {open.with(strings.Replace(web, "= 2", "= -2", 1)), "between 0 and 1000"},
		"no container":    {open.with(`resource "simcloud_deployment" "a" { ` + "\nenvironment = \"a\"\nservice = \"b\"\nname = \"c\"\n}"), "Invalid Block"},
		"only the server": {open.with("resource \"simcloud_network_rule\" \"a\" {\nenvironment = \"a\"\nservice = \"b\"\nname = \"c\"\ndirection = \"ingress\"\npriority = 1\nports = [0]\n}"), "Cloud refused the attribute"},
		"data of nothing": {open.with("data \"simcloud_object\" \"a\" {\nenvironment = \"a\"\nservice = \"b\"\nkind = \"config\"\nname = \"c\"\n}"), "Cloud call failed"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			apply(t, resource.TestStep{Config: test.config, ExpectError: regexp.MustCompile(strings.ReplaceAll(test.want, " ", `\s+`))})
		})
	}
}

func TestImportIdentifier(t *testing.T) {
	t.Parallel()
	c := startCloud(t, simcloud.Options{})
	apply(t,
		resource.TestStep{Config: c.with(web)},
		resource.TestStep{
			ResourceName: "simcloud_deployment.web", ImportState: true, ImportStateId: "prod/shop",
			ExpectError: regexp.MustCompile(`Write\s+ENVIRONMENT/SERVICE/NAME`),
		},
		resource.TestStep{
			ResourceName: "simcloud_deployment.web", ImportState: true, ImportStateId: "prod/shop/absent",
			ExpectError: regexp.MustCompile("Cannot import non-existent remote object"),
		},
	)
}

// TestBusyCloud applies more than the cloud allows at once.
func TestBusyCloud(t *testing.T) {
	t.Parallel()
	c := startCloud(t, simcloud.Options{Rate: 20})
	config := c.with(`
resource "simcloud_config" "many" {
  count       = 30
  environment = "prod"
  service     = "shop"
  name        = "config-${count.index}"
  data        = { index = count.index }
}`)
	apply(t, resource.TestStep{Config: config, Check: func(*terraform.State) error {
		objects, err := c.hand.List(t.Context(), cloudapi.Ref{})
		if err == nil && len(objects) != 30 {
			err = fmt.Errorf("%d objects, want 30", len(objects))
		}
		return err
	}})
}

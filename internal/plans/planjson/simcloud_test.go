package planjson_test

import (
	"testing"

	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/plans/oracletest"
	"github.com/towline/terraform-provider-towline/internal/simcloud/cloudapi"
)

const web = `
resource "simcloud_deployment" "web" {
  environment = "prod"
  service     = "shop"
  name        = "web"
  labels      = { app = "web" }
  container {
    name  = "app"
    image = "app:1"
    env   = { MODE = "fast", EMPTY = "" }
    port {
      name   = "http"
      number = 8080
    }
  }
  container {
    name    = terraform_data.name.output
    image   = "proxy:2"
    command = []
  }
}
resource "terraform_data" "name" {
  input = "side"
}
resource "simcloud_secret_claim" "s" {
  environment = "prod"
  service     = "shop"
  name        = "s"
  usage       = ["read", "write"]
}
resource "simcloud_network_rule" "r" {
  environment = "prod"
  service     = "shop"
  name        = "r"
  direction   = "ingress"
  priority    = 100
  ports       = [443, 80]
  peer {
    cidr   = "10.0.0.0/8"
    except = ["10.1.0.0/16"]
  }
  peer {
    service = "pay"
  }
}
resource "simcloud_service" "svc" {
  environment   = "prod"
  service       = "shop"
  name          = "svc"
  selector      = simcloud_deployment.web.labels
  ports         = [{ name = "http", port = 80, target_port = 8080 }, { name = "metrics", port = 9090 }]
  allowed_cidrs = ["10.0.0.0/8"]
}
data "simcloud_namespace" "ns" {
  environment = "prod"
  service     = "shop"
  depends_on  = [simcloud_service.svc]
}
data "simcloud_namespace" "early" {
  environment = "dev"
  service     = "none"
}
output "token" {
  value     = simcloud_secret_claim.s.token
  sensitive = true
}
output "image" {
  value = simcloud_deployment.web.container[0].image
}
output "early" {
  value = data.simcloud_namespace.early.objects
}
`

const webLater = `
resource "simcloud_deployment" "web" {
  environment  = "prod"
  service      = "shop"
  name         = "web"
  architecture = "arm64"
  strategy     = { type = "recreate" }
  dynamic "container" {
    for_each = ["a", "b"]
    content {
      name  = container.value
      image = "app:1"
    }
  }
}
resource "simcloud_network_rule" "r" {
  environment = "prod"
  service     = "shop"
  name        = "r"
  direction   = "ingress"
  priority    = 100
  peer {
    service = "pay"
  }
}
`

// TestProviderAsTerraform compares the documents of plans with a real provider.
func TestProviderAsTerraform(t *testing.T) {
	t.Parallel()
	c := oracletest.NewCloud(t)
	run(t, c.Bench, []step{
		{config: c.With(web)}, {config: c.With(web)}, {config: c.With(webLater)},
		{config: c.With(webLater), args: []string{"-destroy"}, opts: engine.PlanOptions{Mode: plans.DestroyMode}},
	})
}

// TestDriftAsTerraform compares the documents after objects were changed by hand.
func TestDriftAsTerraform(t *testing.T) {
	t.Parallel()
	refreshOnly := step{args: []string{"-refresh-only"}, opts: engine.PlanOptions{Mode: plans.RefreshOnlyMode}}
	noRefresh := step{args: []string{"-refresh=false"}, opts: engine.PlanOptions{SkipRefresh: true}}
	tests := map[string]struct {
		patch map[string]any // nil deletes the object
		then  step
	}{
		"changed":                {map[string]any{"replicas": 9, "labels": map[string]any{"by": "hand"}}, step{}},
		"changed, nothing to do": {map[string]any{"node_pool": "by-hand"}, step{}},
		"deleted":                {nil, step{}},
		"refresh only":           {map[string]any{"replicas": 9}, refreshOnly},
		"refresh only, deleted":  {nil, refreshOnly},
		"without refresh":        {map[string]any{"replicas": 9}, noRefresh},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := oracletest.NewCloud(t)
			run(t, c.Bench, []step{{config: c.With(web)}})
			ref := cloudapi.Ref{Environment: "prod", Service: "shop", Kind: "deployment", Name: "web"}
			var err error
			if test.patch == nil {
				err = c.Hand.Delete(t.Context(), ref)
			} else {
				_, err = c.Hand.Patch(t.Context(), ref, test.patch)
			}
			if err != nil {
				t.Fatal(err)
			}
			test.then.config = c.With(web)
			run(t, c.Bench, []step{test.then})
		})
	}
}

package render_test

import (
	"testing"

	"github.com/towline/terraform-provider-towline/internal/plans/oracletest"
	"github.com/towline/terraform-provider-towline/internal/simcloud/cloudapi"
)

// object is a resource of the simulated cloud.
func object(kind, name, body string) string {
	return "resource \"simcloud_" + kind + "\" \"this\" {\n  environment = \"prod\"\n  service     = \"shop\"\n  name        = \"" + name + "\"\n" + body + "\n}\n"
}

// TestProviderAsTerraform compares the texts of plans with blocks, nested
// attributes, computed and sensitive values.
func TestProviderAsTerraform(t *testing.T) {
	t.Parallel()
	const two = "container {\n  name = \"app\"\n  image = \"app:1\"\n  env = { MODE = \"fast\", EMPTY = \"\" }\n  port {\n    name = \"http\"\n    number = 8080\n  }\n}\ncontainer {\n  name = \"side\"\n  image = \"proxy:2\"\n  command = []\n}\n"
	const dynamic = "resource \"terraform_data\" \"n\" {\n  input = [\"app\"]\n}\n"
	tests := map[string][]string{
		"deployment": {
			object("deployment", "web", two+"labels = { app = \"web\" }"),
			object("deployment", "web", "replicas = 3\nlabels = { app = \"web2\", more = \"x\" }\ncontainer {\n  name = \"app\"\n  image = \"app:2\"\n  cpu = 1.5\n  command = [\"a\", \"b\"]\n}\nstrategy = { type = \"recreate\" }"),
			object("deployment", "web", "node_pool = \"p\"\nlabels = {}\ncontainer {\n  name = \"app\"\n  image = \"app:2\"\n  cpu = 1.5\n  command = [\"b\", \"c\", \"d\"]\n  port {\n    name = \"http\"\n    number = 80\n  }\n}\n"+two),
			object("deployment", "web", "architecture = \"arm64\"\n"+two),
			object("deployment", "other", "architecture = \"arm64\"\n"+two),
			"",
		},
		"empty texts": {
			object("deployment", "web", "node_pool = \"\"\nlabels = { a = \"\", b = \"x\" }\ncontainer {\n  name = \"app\"\n  image = \"app:1\"\n  command = [\"\", \"b\"]\n}"),
			object("deployment", "web", "node_pool = \"p\"\nlabels = { a = \"x\", b = \"\", c = \"\" }\ncontainer {\n  name = \"app\"\n  image = \"app:1\"\n  command = [\"b\", \"\", \"\"]\n}"),
			object("deployment", "web", "node_pool = \"\"\nlabels = sensitive({ a = \"\" })\ncontainer {\n  name = \"app\"\n  image = \"app:1\"\n  command = [\"\"]\n}"),
		},
		"service": {
			object("service", "s", "selector = { app = \"web\" }\nports = [{ name = \"http\", port = 80, target_port = 8080 }, { name = \"metrics\", port = 9090 }]\nallowed_cidrs = [\"10.0.0.0/8\", \"192.168.0.0/16\"]"),
			object("service", "s", "selector = { app = \"web\" }\ntype = \"public\"\nports = [{ name = \"metrics\", port = 9090 }]\nallowed_cidrs = [\"10.0.0.0/8\"]"),
			object("service", "s", "selector = { app = \"web\" }\nports = [{ name = \"metrics\", port = 9091 }, { name = \"b\", port = 1 }]\nallowed_cidrs = []"),
			object("service", "s", "selector = { app = \"web\" }\nports = [{ name = \"b\", port = 1 }, { name = \"metrics\", port = 9091 }]"),
		},
		"secret and sensitive maps": {
			object("secret_claim", "s", "keepers = { a = \"1\" }\nusage = [\"read\", \"write\"]") + "output \"t\" {\n  value = simcloud_secret_claim.this.token\n  sensitive = true\n}\n",
			object("secret_claim", "s", "keepers = { a = \"2\" }\nusage = [\"read\"]\nlabels = sensitive({ x = \"y\" })") + "output \"t\" {\n  value = simcloud_secret_claim.this.token\n  sensitive = true\n}\n",
			object("secret_claim", "s", "keepers = { a = \"2\" }\nusage = [\"read\"]\nlabels = { x = \"y\" }"),
		},
		"set and single blocks": {
			object("network_rule", "n", "direction = \"ingress\"\npriority = 100\nports = [443, 80]\npeer {\n  cidr = \"10.0.0.0/8\"\n  except = [\"10.1.0.0/16\"]\n}\npeer {\n  service = \"pay\"\n}") + object("scheduled_job", "j", "schedule = \"0 3 * * *\"\nimage = \"r:1\""),
			object("network_rule", "n", "direction = \"ingress\"\npriority = 100\nports = [443, 81]\npeer {\n  cidr = \"10.0.0.0/8\"\n  except = [\"10.2.0.0/16\"]\n}\npeer {\n  service = \"pay\"\n}") + object("scheduled_job", "j", "schedule = \"0 3 * * *\"\nimage = \"r:1\"\nhistory {\n  successful = 3\n  failed = 1\n}"),
			object("network_rule", "n", "direction = \"egress\"\npriority = 100\n") + object("scheduled_job", "j", "schedule = \"0 3 * * *\"\nimage = \"r:1\"\nhistory {\n  successful = 2\n  failed = 1\n}"),
			object("network_rule", "n", "direction = \"egress\"\npriority = 100\npeer {\n  service = sensitive(\"pay\")\n}") + object("scheduled_job", "j", "schedule = \"0 3 * * *\"\nimage = \"r:1\"\n"),
			object("network_rule", "n", "direction = \"egress\"\npriority = 101\npeer {\n  service = \"pay\"\n}") + object("scheduled_job", "j", "schedule = \"0 3 * * *\"\nimage = \"r:1\"\n"),
		},
		"unknown blocks": {
			dynamic + object("deployment", "web", "dynamic \"container\" {\n  for_each = terraform_data.n.output\n  content {\n    name = container.value\n    image = \"x:1\"\n  }\n}"),
			"resource \"terraform_data\" \"n\" {\n  input = [\"app\", \"b\"]\n}\n" + object("deployment", "web", "dynamic \"container\" {\n  for_each = terraform_data.n.output\n  content {\n    name = container.value\n    image = \"x:1\"\n  }\n}"),
		},
		"data sources": {
			object("config", "c", "data = { A = \"1\" }") + "data \"simcloud_namespace\" \"all\" {\n  environment = \"prod\"\n  service = simcloud_config.this.service\n  depends_on = [simcloud_config.this]\n}\noutput \"n\" {\n  value = data.simcloud_namespace.all.objects[*].name\n}\n",
			object("config", "c", "data = { A = \"2\" }") + "data \"simcloud_namespace\" \"all\" {\n  environment = \"prod\"\n  service = simcloud_config.this.checksum == \"\" ? \"a\" : \"shop\"\n}\n",
		},
	}
	for name, configs := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := oracletest.NewCloud(t)
			var steps []step
			for _, config := range configs {
				steps = append(steps, step{config: c.With(config)})
			}
			run(t, c.Bench, steps)
		})
	}
}

// TestDriftAsTerraform changes objects by hand between plans.
func TestDriftAsTerraform(t *testing.T) {
	t.Parallel()
	web := cloudapi.Ref{Environment: "prod", Service: "shop", Kind: "deployment", Name: "web"}
	base := object("deployment", "web", "labels = { app = \"web\" }\ncontainer {\n  name = \"app\"\n  image = \"app:1\"\n}\n")
	user := func(expr string) string {
		return base + "resource \"terraform_data\" \"user\" {\n  input = " + expr + "\n}\n"
	}
	tests := map[string]struct {
		first string
		patch map[string]any // nil deletes the object
		then  step
	}{
		"set attribute":            {base, map[string]any{"replicas": 9}, step{config: base}},
		"unset attribute":          {base, map[string]any{"node_pool": "by-hand"}, step{config: base}},
		"relevant to another":      {user("simcloud_deployment.this.node_pool"), map[string]any{"node_pool": "by-hand", "min_ready_seconds": 7}, step{config: user("simcloud_deployment.this.node_pool")}},
		"whole object relevant":    {user("simcloud_deployment.this"), map[string]any{"node_pool": "by-hand"}, step{config: user("simcloud_deployment.this")}},
		"key of a map relevant":    {user("lookup(simcloud_deployment.this.labels, \"by\", simcloud_deployment.this.labels.app)"), map[string]any{"labels": map[string]any{"app": "x", "by": "hand"}}, step{config: user("simcloud_deployment.this.labels.app")}},
		"inside a block relevant":  {user("simcloud_deployment.this.container[0].image"), map[string]any{"container": []any{map[string]any{"name": "app", "image": "app:9"}}, "replicas": 4}, step{config: user("simcloud_deployment.this.container[0].image")}},
		"not relevant":             {user("simcloud_deployment.this.node_pool"), map[string]any{"min_ready_seconds": 7}, step{config: user("[simcloud_deployment.this.node_pool]")}},
		"deleted":                  {base, nil, step{config: base}},
		"deleted and referred to":  {user("simcloud_deployment.this.node_pool"), nil, step{config: user("simcloud_deployment.this.node_pool")}},
		"refresh only":             {base, map[string]any{"replicas": 9, "labels": map[string]any{"by": "hand"}}, step{config: base, refresh: true}},
		"refresh only, deleted":    {base + "output \"o\" {\n  value = simcloud_deployment.this.replicas\n}\n", nil, step{config: base, refresh: true}},
		"refresh only, for output": {base + "output \"o\" {\n  value = simcloud_deployment.this.replicas\n}\n", map[string]any{"replicas": 9}, step{config: base + "output \"o\" {\n  value = simcloud_deployment.this.replicas\n}\n", refresh: true}},
		"for an output":            {base + "output \"o\" {\n  value = simcloud_deployment.this.node_pool\n}\n", map[string]any{"node_pool": "by-hand"}, step{config: base + "output \"o\" {\n  value = simcloud_deployment.this.node_pool\n}\n"}},
		"destroy":                  {base, map[string]any{"replicas": 9}, step{config: base, destroy: true}},
		"destroy what is gone":     {base, nil, step{config: base, destroy: true}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := oracletest.NewCloud(t)
			run(t, c.Bench, []step{{config: c.With(test.first)}})
			var err error
			if test.patch == nil {
				err = c.Hand.Delete(t.Context(), web)
			} else {
				_, err = c.Hand.Patch(t.Context(), web, test.patch)
			}
			if err != nil {
				t.Fatal(err)
			}
			test.then.config = c.With(test.then.config)
			run(t, c.Bench, []step{test.then})
		})
	}
}

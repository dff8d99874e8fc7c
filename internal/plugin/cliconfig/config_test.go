package cliconfig_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/plugin/cliconfig"
)

func mustAddr(t *testing.T, source string) addrs.Provider {
	t.Helper()
	addr, err := addrs.ParseProviderSource(source)
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func environment(home string, vars map[string]string) cliconfig.Environment {
	return cliconfig.Environment{Home: home, Getenv: func(name string) string { return vars[name] }}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	home, cache := t.TempDir(), t.TempDir()
	path := filepath.Join(home, "my.tfrc")
	write(t, path, `
plugin_cache_dir = "`+cache+`"
disable_checkpoint = true
credentials "app.terraform.io" { token = "x" }
provider_installation {
  dev_overrides {
    "hashicorp/null" = "/dev/null-provider/"
  }
  filesystem_mirror {
    path    = "/mirror"
    include = ["registry.terraform.io/hashicorp/*", "example.com/*/*"]
    exclude = ["hashicorp/random"]
  }
  network_mirror { url = "https://mirror.example.com/" }
  direct { exclude = ["*/*"] }
}`)
	config, diags := cliconfig.Load(environment(home, map[string]string{"TF_CLI_CONFIG_FILE": path}))
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	if config.PluginCacheDir != cache || !config.Explicit || len(config.Methods) != 3 {
		t.Fatalf("got %+v", config)
	}
	if got := config.DevOverrides[mustAddr(t, "hashicorp/null")]; got != "/dev/null-provider" {
		t.Errorf("dev_overrides = %q", got)
	}
	kinds := []cliconfig.Kind{cliconfig.FilesystemMirror, cliconfig.NetworkMirror, cliconfig.Direct}
	locations := []string{"/mirror", "https://mirror.example.com/", "registry"}
	for i, method := range config.Methods {
		if method.Kind != kinds[i] || method.Location != locations[i] {
			t.Errorf("method %d is %+v", i, method)
		}
	}
	handles := map[string][3]bool{
		"hashicorp/aws":         {true, true, false},
		"hashicorp/random":      {false, true, false},
		"other/aws":             {false, true, false},
		"example.com/other/aws": {true, true, true},
	}
	for source, want := range handles {
		for i, method := range config.Methods {
			if got := method.Handles(mustAddr(t, source)); got != want[i] {
				t.Errorf("%s handles %s: %v", method.Kind, source, got)
			}
		}
	}
}

func TestLoadPlaces(t *testing.T) {
	t.Parallel()
	const mirror = `provider_installation { filesystem_mirror { path = "/m" } }`
	tests := map[string]struct {
		files    map[string]string
		vars     map[string]string
		explicit bool
		warning  bool
	}{
		"nothing":               {nil, nil, false, false},
		".terraformrc":          {map[string]string{".terraformrc": mirror}, nil, true, false},
		".terraform.d":          {map[string]string{".terraform.d/a.tfrc": mirror}, nil, true, false},
		".terraform.d json":     {map[string]string{".terraform.d/a.tfrc.json": `{"provider_installation":{"filesystem_mirror":[{"path":"/m"}]}}`}, nil, true, false},
		"variable wins":         {map[string]string{".terraformrc": mirror, "x": ""}, map[string]string{"TF_CLI_CONFIG_FILE": "x"}, false, false},
		"variable to nothing":   {map[string]string{".terraformrc": mirror}, map[string]string{"TF_CLI_CONFIG_FILE": "none"}, false, true},
		"older variable counts": {map[string]string{"x": mirror}, map[string]string{"TERRAFORM_CONFIG": "x"}, true, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			for path, text := range test.files {
				write(t, filepath.Join(home, path), text)
			}
			vars := make(map[string]string)
			for name, value := range test.vars {
				vars[name] = filepath.Join(home, value)
			}
			config, diags := cliconfig.Load(environment(home, vars))
			if diags.HasErrors() || (len(diags) > 0) != test.warning || config.Explicit != test.explicit {
				t.Errorf("got %+v, %v", config, diags)
			}
		})
	}
}

func TestCacheDirFromEnvironment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config, diags := cliconfig.Load(environment("", map[string]string{"TF_PLUGIN_CACHE_DIR": dir}))
	if len(diags) > 0 || config.PluginCacheDir != dir {
		t.Errorf("got %+v, %v", config, diags)
	}
	_, diags = cliconfig.Load(environment("", map[string]string{"TF_PLUGIN_CACHE_DIR": filepath.Join(dir, "none")}))
	if !diags.HasErrors() {
		t.Error("a cache folder that does not exist passed")
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	install := func(body string) string { return "provider_installation {\n" + body + "\n}" }
	for name, test := range map[string]struct{ src, want string }{
		"syntax":           {`provider_installation {`, "has a mistake"},
		"attribute":        {`provider_installation = 1`, "must be a block"},
		"twice":            {install("direct {}") + "\n" + install("direct {}"), "more than one"},
		"method attribute": {install("direct = 1"), "must be a block"},
		"unknown method":   {install("oci_mirror {}"), `no installation method "oci_mirror"`},
		"no path":          {install("filesystem_mirror {}"), "must say where"},
		"no url":           {install("network_mirror {}"), "must say where"},
		"wrong type":       {install(`filesystem_mirror { path = ["a"] }`), "filesystem_mirror"},
		"bad pattern":      {install(`direct { include = ["a/b/c/d"] }`), "more than three parts"},
		"bad address":      {install(`direct { exclude = ["a b"] }`), "not the address"},
		"bad override":     {install(`dev_overrides { "a/b/c/d" = "/x" }`), "not the address"},
		"late overrides":   {install("direct {}\n dev_overrides {}"), "must come before"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "rc")
			write(t, path, test.src)
			_, diags := cliconfig.Load(environment("", map[string]string{"TF_CLI_CONFIG_FILE": path}))
			if !diags.HasErrors() || !strings.Contains(diags[0].Detail, test.want) {
				t.Errorf("got %v, want %q", diags, test.want)
			}
		})
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(`provider_installation { dev_overrides { "a/b" = "c" } }`))
	f.Add([]byte(`{"provider_installation":{"direct":[{}]}}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		path := filepath.Join(t.TempDir(), "rc")
		write(t, path, string(src))
		config, _ := cliconfig.Load(environment("", map[string]string{"TF_CLI_CONFIG_FILE": path}))
		if config == nil {
			t.Error("no configuration")
		}
	})
}

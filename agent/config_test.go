package agent_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/towline/terraform-provider-towline/agent"
)

// TestConfigMirrors: mirrors are other stores than the store, and few.
func TestConfigMirrors(t *testing.T) {
	t.Parallel()
	many := strings.TrimSuffix(strings.Repeat(`"file:///m",`, 9), ",")
	tests := map[string]struct {
		mirrors string
		want    []string
		wrong   bool
	}{
		"none":     {"", nil, false},
		"two":      {`mirrors = ["gs://b/p", "file:///m"]`, []string{"gs://b/p", "file:///m"}, false},
		"the same": {`mirrors = ["s3://b/p"]`, nil, true},
		"many":     {`mirrors = [` + many + `]`, nil, true},
		"no list":  {`mirrors = "file:///m"`, nil, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "agent.hcl")
			text := "store = \"s3://b/p\"\nenvironment = \"prod\"\nagent = \"a1\"\ntrusted_root = \"/r\"\ndata_dir = \"/d\"\n" + test.mirrors + "\n"
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			config, diags := agent.LoadConfig(path)
			if diags.HasErrors() != test.wrong {
				t.Fatalf("LoadConfig: %v", diags.Err())
			}
			if !test.wrong && !slices.Equal(config.Mirrors, test.want) {
				t.Errorf("mirrors = %q; want %q", config.Mirrors, test.want)
			}
		})
	}
}

// TestConfigMetricsFile: the textfile collector reads files that end in .prom only.
func TestConfigMetricsFile(t *testing.T) {
	t.Parallel()
	for file, ok := range map[string]bool{"/var/lib/node/agent.prom": true, "agent.prom": false, "/var/lib/node/agent.txt": false} {
		path := filepath.Join(t.TempDir(), "agent.hcl")
		text := "store = \"s3://b/p\"\nenvironment = \"prod\"\nagent = \"a1\"\ntrusted_root = \"/r\"\ndata_dir = \"/d\"\nmetrics_file = \"" + file + "\"\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		config, diags := agent.LoadConfig(path)
		if ok && (diags.HasErrors() || config.MetricsFile != file) {
			t.Errorf("%s: %v", file, diags.Err())
		}
		if !ok && (!diags.HasErrors() || !strings.Contains(diags[0].Detail, "metrics_file must be an absolute path that ends in .prom")) {
			t.Errorf("%s: %v", file, diags)
		}
	}
}

// TestConfigSlackAPI: tokens go over https only, or stay on the machine.
func TestConfigSlackAPI(t *testing.T) {
	t.Parallel()
	for url, wrong := range map[string]bool{
		"https://slack-gov.com/api/": false, "http://127.0.0.1:8080/api/": false, "https://slack-gov.com/api": true, "http://slack-gov.com/api/": true, "slack-gov.com/": true, "https:///api/": true, "://": true,
	} {
		path := filepath.Join(t.TempDir(), "agent.hcl")
		text := "store = \"s3://b/p\"\nenvironment = \"prod\"\nagent = \"a1\"\ntrusted_root = \"/r\"\ndata_dir = \"/d\"\nslack_api_url = \"" + url + "\"\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, diags := agent.LoadConfig(path)
		if diags.HasErrors() != wrong || wrong && !strings.Contains(diags.Err().Error(), "slack_api_url must be an https URL that ends with a slash") {
			t.Errorf("%q: %v", url, diags.Err())
		}
	}
}

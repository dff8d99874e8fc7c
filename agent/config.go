package agent

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsimple"
	"github.com/slack-go/slack"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// Config is an agent's configuration file.
type Config struct {
	// Store is the URL of the repository's store.
	Store string `hcl:"store"`
	// Mirrors are URLs of stores that hold copies of the repository, in the order to be
	// asked when the store gives nothing. Nothing is written there.
	Mirrors     []string `hcl:"mirrors,optional"`
	Environment string   `hcl:"environment"`
	Agent       string   `hcl:"agent"`
	// TrustedRoot is the path of the root that the agent believes without proof.
	TrustedRoot string `hcl:"trusted_root"`
	// DataDir is a folder that survives restarts: the agent's key, what it
	// verified, its state and journal.
	DataDir string `hcl:"data_dir"`
	// Identities are files with private keys, beside the agent's own, that open what was
	// sealed before this machine was one of the recipients.
	Identities []string `hcl:"identities,optional"`
	// ProviderMemoryMiB is how much memory a provider's process may hold before it is
	// ended, in MiB; 0 means what every provider known can do with.
	ProviderMemoryMiB uint64 `hcl:"provider_memory_mib,optional"`
	// MetricsFile is a file of the node exporter's textfile collector that every round
	// replaces, "" for none.
	MetricsFile string `hcl:"metrics_file,optional"`
	// SlackAPIURL is the base of Slack's Web API, for workspaces that Slack serves elsewhere.
	SlackAPIURL string `hcl:"slack_api_url,optional"`
	// Variables are where the values of variables are, for whatever revision declares them.
	Variables []Reference `hcl:"variable,block"`
	JoinToken *JoinToken  `hcl:"join_token,block"`
}

// JoinToken says where the one-time join token is; exactly one field is set. It
// is read once, at enrolment.
type JoinToken struct {
	File           string `hcl:"file,optional"`
	Env            string `hcl:"env,optional"`
	SSMParameter   string `hcl:"ssm_parameter,optional"`
	SecretsManager string `hcl:"secrets_manager,optional"`
}

// maxMirrors bounds what a round asks when every store is away.
const maxMirrors = 8

// minProviderMemory is the least that a provider may be allowed, in MiB.
const minProviderMemory = 64

// LoadConfig reads and checks a configuration file.
func LoadConfig(path string) (Config, tfdiags.Diagnostics) {
	var c Config
	data, err := os.ReadFile(path)
	if err != nil {
		return c, tfdiags.New(tfdiags.Error, "Failed to read agent configuration", fmt.Sprintf("The file %s cannot be read: %s.", path, err))
	}
	if err := hclsimple.Decode(path, data, nil, &c); err != nil {
		return c, tfdiags.New(tfdiags.Error, "Invalid agent configuration", fmt.Sprintf("The agent configuration is not valid: %s.", err))
	}
	return c, c.check(path)
}

// slackURL is the base of Slack's Web API.
func (c Config) slackURL() string { return cmp.Or(c.SlackAPIURL, slack.APIURL) }

func (c Config) check(path string) tfdiags.Diagnostics {
	invalid := func(detail string) tfdiags.Diagnostics {
		return tfdiags.New(tfdiags.Error, "Invalid agent configuration", fmt.Sprintf("In %s: %s", path, detail))
	}
	for field, name := range map[string]string{"environment": c.Environment, "agent": c.Agent} {
		if err := control.ValidateName(name); err != nil {
			return invalid(fmt.Sprintf("%s %s.", field, err))
		}
	}
	if len(c.Mirrors) > maxMirrors || slices.Contains(c.Mirrors, c.Store) {
		return invalid(fmt.Sprintf("mirrors must name other stores than store, at most %d.", maxMirrors))
	}
	if !filepath.IsAbs(c.DataDir) {
		return invalid("data_dir must be an absolute path, because the agent may be started from anywhere.")
	}
	if c.ProviderMemoryMiB != 0 && c.ProviderMemoryMiB < minProviderMemory {
		return invalid(fmt.Sprintf("provider_memory_mib must be at least %d: hardly any provider starts with less.", minProviderMemory))
	}
	if c.MetricsFile != "" && (!filepath.IsAbs(c.MetricsFile) || filepath.Ext(c.MetricsFile) != ".prom") {
		return invalid("metrics_file must be an absolute path that ends in .prom, as the node exporter's textfile collector asks for.")
	}
	if u, err := url.Parse(c.slackURL()); err != nil || u.Host == "" || u.Scheme != "https" && !slices.Contains([]string{"127.0.0.1", "localhost"}, u.Hostname()) || !strings.HasSuffix(u.Path, "/") {
		return invalid("slack_api_url must be an https URL that ends with a slash, such as https://slack-gov.com/api/.")
	}
	for _, ref := range c.Variables {
		if err := ref.check(); err != nil {
			return invalid(err.Error() + ".")
		}
	}
	if c.JoinToken != nil {
		set := 0
		for _, value := range []string{c.JoinToken.File, c.JoinToken.Env, c.JoinToken.SSMParameter, c.JoinToken.SecretsManager} {
			if value != "" {
				set++
			}
		}
		if set != 1 {
			return invalid("join_token must name exactly one of file, env, ssm_parameter and secrets_manager.")
		}
	}
	return nil
}

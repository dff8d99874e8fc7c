package cliconfig

import (
	"fmt"
	"strings"

	svchost "github.com/hashicorp/terraform-svchost"

	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// hostSettings is a host block.
type hostSettings struct {
	Services map[string]any `hcl:"services"`
}

func (c *Config) mergeHosts(hosts map[string]hostSettings, name string) tfdiags.Diagnostics {
	var diags tfdiags.Diagnostics
	for text, settings := range hosts {
		host, err := svchost.ForComparison(text)
		if err != nil {
			diags = append(diags, invalid(name, fmt.Sprintf("the host block %q does not name a host: %s", text, err))...)
			continue
		}
		c.Services[host] = settings.Services
	}
	return diags
}

// mergeCredentials takes the tokens of credentials blocks. Blocks of other kinds are
// those of credentials helpers, which are not run.
func (c *Config) mergeCredentials(credentials map[string]map[string]any, name string) tfdiags.Diagnostics {
	var diags tfdiags.Diagnostics
	for text, settings := range credentials {
		host, err := svchost.ForComparison(text)
		if err != nil {
			diags = append(diags, invalid(name, fmt.Sprintf("the credentials block %q does not name a host: %s", text, err))...)
			continue
		}
		if token, ok := settings["token"].(string); ok {
			c.Tokens[host] = token
		}
	}
	return diags
}

// tokenPrefix begins the names of variables that hold a host's token.
const tokenPrefix = "TF_TOKEN_"

// environmentTokens adds the tokens of the environment, which win over those of
// files. In names of variables an underscore stands for a dot and two for a hyphen.
func (c *Config) environmentTokens(environ []string) {
	for _, variable := range environ {
		name, token, _ := strings.Cut(variable, "=")
		text, ok := strings.CutPrefix(name, tokenPrefix)
		if !ok || token == "" {
			continue
		}
		text = strings.ReplaceAll(strings.ReplaceAll(text, "__", "-"), "_", ".")
		if host, err := svchost.ForComparison(svchost.ForDisplay(text)); err == nil {
			c.Tokens[host] = token // other names are not about hosts
		}
	}
}

package repository

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// Config declares who may sign what.
type Config struct {
	trust.Top
	Environments map[string]trust.RoleSpec
	Channels     map[string]trust.RoleSpec
}

// Expiries of a new repository. They are long: the strict set-up is a choice.
const (
	DefaultRootExpiry = 5 * 366 * 24 * time.Hour
	DefaultExpiry     = 366 * 24 * time.Hour
)

// SingleKey is the configuration of a new user: one key signs everything.
func SingleKey(key trust.PublicKey, environments, channels []string) Config {
	spec := func(expiry time.Duration) trust.RoleSpec {
		return trust.RoleSpec{Keys: []trust.PublicKey{key}, Threshold: 1, Expiry: expiry}
	}
	config := Config{
		Top:          trust.Top{Root: spec(DefaultRootExpiry), Targets: spec(DefaultRootExpiry), Snapshot: spec(DefaultExpiry), Timestamp: spec(DefaultExpiry)},
		Environments: map[string]trust.RoleSpec{},
		Channels:     map[string]trust.RoleSpec{},
	}
	for _, name := range environments {
		config.Environments[name] = spec(DefaultExpiry)
	}
	for _, name := range channels {
		config.Channels[name] = spec(DefaultExpiry)
	}
	return config
}

// maxDelegations keeps the targets role well below what a client reads.
const maxDelegations = 5000

// Validate tells whether the configuration can be signed and met.
func (c Config) Validate() error {
	if len(c.Environments)+len(c.Channels) > maxDelegations {
		return fmt.Errorf("there are more than %d environments and channels", maxDelegations)
	}
	for role, spec := range map[string]trust.RoleSpec{
		trust.RoleRoot: c.Root, trust.RoleTargets: c.Targets, trust.RoleSnapshot: c.Snapshot, trust.RoleTimestamp: c.Timestamp,
	} {
		if err := spec.Validate(); err != nil {
			return fmt.Errorf("role %s: %w", role, err)
		}
	}
	if err := validateNamed("environment", c.Environments); err != nil {
		return err
	}
	return validateNamed("channel", c.Channels)
}

func validateNamed(kind string, specs map[string]trust.RoleSpec) error {
	for _, name := range slices.Sorted(maps.Keys(specs)) {
		if err := control.ValidateName(name); err != nil {
			return fmt.Errorf("%s %q: its name %w", kind, name, err)
		}
		if err := specs[name].Validate(); err != nil {
			return fmt.Errorf("%s %q: %w", kind, name, err)
		}
	}
	return nil
}

func (c Config) delegations() []trust.Delegation {
	var list []trust.Delegation
	for name, spec := range c.Environments {
		list = append(list, trust.Delegation{Role: trust.EnvironmentRole(name), RoleSpec: spec})
	}
	for name, spec := range c.Channels {
		list = append(list, trust.Delegation{Role: trust.ChannelRole(name), RoleSpec: spec})
	}
	return list
}

func configOf(v *trust.Verifier) Config { return configFrom(v.Top(), v.Delegations()) }

func configFrom(top trust.Top, delegations []trust.Delegation) Config {
	config := Config{Top: top, Environments: map[string]trust.RoleSpec{}, Channels: map[string]trust.RoleSpec{}}
	for _, d := range delegations {
		if name, ok := trust.EnvironmentOf(d.Role); ok {
			config.Environments[name] = d.RoleSpec
		}
		if name, ok := trust.ChannelOf(d.Role); ok {
			config.Channels[name] = d.RoleSpec
		}
	}
	return config
}

// Equal tells whether two configurations mean the same.
func (c Config) Equal(other Config) bool {
	return sameTop(c.Top, other.Top) &&
		maps.EqualFunc(c.Environments, other.Environments, trust.RoleSpec.Equal) &&
		maps.EqualFunc(c.Channels, other.Channels, trust.RoleSpec.Equal)
}

func sameTop(a, b trust.Top) bool { return a.Root.Equal(b.Root) && sameOnline(a, b) }

// sameOnline compares the roles whose metadata is signed anew with every publication.
func sameOnline(a, b trust.Top) bool {
	return a.Targets.Equal(b.Targets) && a.Snapshot.Equal(b.Snapshot) && a.Timestamp.Equal(b.Timestamp)
}

// Edit changes the spec of a role by its name, root or env-NAME for example, and tells
// whether there is such a role. The configuration given stays as it is.
func (c Config) Edit(role string, edit func(trust.RoleSpec) trust.RoleSpec) (Config, bool) {
	c.Environments, c.Channels = maps.Clone(c.Environments), maps.Clone(c.Channels)
	for name, spec := range map[string]*trust.RoleSpec{trust.RoleRoot: &c.Root, trust.RoleTargets: &c.Targets, trust.RoleSnapshot: &c.Snapshot, trust.RoleTimestamp: &c.Timestamp} {
		if name == role {
			*spec = edit(*spec)
			return c, true
		}
	}
	specs, name := c.Environments, ""
	if environment, ok := trust.EnvironmentOf(role); ok {
		name = environment
	} else if channel, ok := trust.ChannelOf(role); ok {
		specs, name = c.Channels, channel
	}
	spec, ok := specs[name]
	if ok {
		specs[name] = edit(spec)
	}
	return c, ok
}

// Roles names all roles, as [Config.Edit] takes them.
func (c Config) Roles() []string {
	names := []string{trust.RoleRoot, trust.RoleTargets, trust.RoleSnapshot, trust.RoleTimestamp}
	for _, name := range slices.Sorted(maps.Keys(c.Environments)) {
		names = append(names, trust.EnvironmentRole(name))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Channels)) {
		names = append(names, trust.ChannelRole(name))
	}
	return names
}

package control

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Policy declares Rego policies that every plan of the environment is asked about.
// They come with the environment, so that who publishes a revision cannot leave them out.
type Policy struct {
	Version     int    `json:"version"`
	Environment string `json:"environment"`
	Name        string `json:"name"`
	// Modules are Rego files by name.
	Modules map[string]string `json:"modules"`
	// Enforcement is "deny", the default, or "warn": then a denial warns.
	Enforcement Enforcement `json:"enforcement,omitempty"`
	// WarnUntil is the end of a time in which denials only warn; zero is none.
	WarnUntil time.Time `json:"warn_until,omitzero"`
}

// Enforcement says what a denial does.
type Enforcement string

// What a denial may do.
const (
	EnforceDeny Enforcement = "deny"
	EnforceWarn Enforcement = "warn"
)

// Ref implements [Declared].
func (p Policy) Ref() Ref { return Ref{KindPolicy, p.Environment, p.Name} }

// maxModules and maxPolicy bound a policy: files, and bytes of all of them.
const (
	maxModules = 100
	maxPolicy  = 1 << 20
)

// Validate implements [Document]. Whether the modules compile is for package policy to say.
func (p Policy) Validate() error {
	var check checker
	check.head(p.Version, p.Environment)
	check.name("name", p.Name)
	check.that("modules", len(p.Modules) > 0, "must have at least one module")
	check.that("modules", len(p.Modules) <= maxModules, "must have at most %d modules", maxModules)
	size := 0
	for _, name := range slices.Sorted(maps.Keys(p.Modules)) {
		size += len(p.Modules[name])
		check.that("modules["+name+"]", strings.HasSuffix(name, ".rego") && len(name) <= maxText && name == strings.TrimSpace(name), "must be called like a Rego file, as in deletions.rego")
	}
	check.that("modules", size <= maxPolicy, "must have at most %d bytes in all", maxPolicy)
	check.that("enforcement", slices.Contains([]Enforcement{"", EnforceDeny, EnforceWarn}, p.Enforcement), "must be deny or warn")
	return check.err()
}

// PolicyFinding is what one rule of a Rego policy said about a plan. It holds no
// sensitive value.
type PolicyFinding struct {
	// Policy is the name of the declared policy, or "revision"; Rule the rule, as in main.deny.
	Policy string `json:"policy"`
	Rule   string `json:"rule"`
	// Message is the policy's own text.
	Message string `json:"message"`
	// Decision is "deny" or "warn".
	Decision Enforcement `json:"decision"`
	// DeniesFrom is when a denial that only warns for now will deny.
	DeniesFrom time.Time `json:"denies_from,omitzero"`
}

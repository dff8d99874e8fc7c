// Package install finds providers where Terraform finds them, installs them
// into a working directory, checks them against the dependency lock file, and
// says which program serves a provider.
//
// It is not for running programs (package plugin does that) nor for providers
// that are part of the engine. Registries and network mirrors are known to it,
// but cannot be asked yet.
//
// Start with [Open]. It may import addrs, tfdiags and, of package plugin,
// cliconfig, lockfile and version.
package install

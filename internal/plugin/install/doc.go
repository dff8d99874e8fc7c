// Package install finds providers where Terraform finds them, installs them
// into a working directory, checks them against the dependency lock file, and
// says which program serves a provider.
//
// It is not for running programs (package plugin does that) nor for providers
// that are part of the engine. It trusts nobody who answers: packages are checked
// against signatures, the mirror's checksums and the lock file.
//
// Start with [Open]. It may import addrs, bounds, registry, tfdiags and, of package plugin,
// cliconfig, lockfile and version.
package install

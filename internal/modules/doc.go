// Package modules installs the modules that a configuration calls into
// .terraform/modules, laid out as terraform does it, so that either program can use
// what the other one installed.
//
// It is not for reading configuration (package configs), and it evaluates nothing.
// What it fetches is bounded in size, number and time and must not lead out of its
// folder.
//
// Start with [Installer.Install]. It may import addrs, backend, bounds, configs,
// modulesource, registry and tfdiags.
package modules

// Package providers says what the engine needs of a Terraform provider: its
// schemas and the calls of the provider protocol, with cty values in place of
// wire bytes. providerstest holds an in-memory fake.
//
// It is not for finding, starting or verifying provider processes; that is
// package plugin, which implements [Interface] over protocol 5 and 6.
//
// Start with [Interface]. It may import addrs and tfdiags.
package providers

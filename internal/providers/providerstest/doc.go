// Package providerstest holds an in-memory provider for tests of what uses
// [providers.Interface]. It keeps objects, computes what a schema calls
// computed, records every call, and lets a test change any answer.
//
// It is not for tests of the provider protocol: no process runs and nothing is
// encoded. It refuses calls that break the rules of [providers.Interface], so
// that a test notices a caller that does.
//
// Start with [New]. It may import providers and tfdiags.
package providerstest

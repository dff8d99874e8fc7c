// Package plugintest finds and builds real providers for tests: the AWS
// provider from a filesystem mirror, the time provider from its Go module, and
// two small providers of our own, of which one breaks every rule on request.
//
// It is not for tests that need no process; providerstest is for those.
//
// Start with [Build]. It may import no other package of this module.
package plugintest

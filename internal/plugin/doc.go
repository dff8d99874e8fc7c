// Package plugin runs real Terraform providers: processes that speak protocol 5
// or 6 over go-plugin, behind [providers.Interface]. It starts them, fetches
// schemas once for all instances of a provider, converts values and problems,
// restarts what has crashed, and ends all it has started.
//
// It is not for finding or installing provider packages (package install does
// that), and it knows nothing of plans or state. No wire type leaves it.
//
// Start with [Pool]. It may import addrs, providers, tfdiags and install.
package plugin

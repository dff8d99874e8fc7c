// Package agent is the process inside a private network that keeps its scopes
// equal to the verified revision: one round after the other of fetch, verify,
// load, plan, guard, apply, record and report.
//
// It is not for declaring anything (package provider) and holds no engine logic.
//
// Start with round.go. It may import every lower rank but not provider.
package agent

// Version is this build's version; releases set it when linking.
var Version = "0.1.0-dev"

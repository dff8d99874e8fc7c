// Package control holds the documents that parties leave for each other in the
// store: what the provider declares (agent, scope, break-glass policy), what
// agents answer (claim, heartbeat, receipt), what people grant; their canonical
// encoding, their validation and the layout of keys.
//
// It is not for signing or verifying (package trust) and does no I/O; where time
// matters it takes now as an argument. The provider and the agent meet only here.
//
// Start with [Agent], [Scope] and [Receipt]. It imports no other package of this module.
package control

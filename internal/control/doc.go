// Package control holds the documents that parties leave for each other in the
// store: what the provider declares (agent, scope, break-glass policy), what
// agents answer (claim, heartbeat, receipt), what people grant; their canonical
// encoding, their validation, the envelopes that reports and grants are signed in,
// and the layout of keys.
//
// It is not for the repository's own signatures, which decide what an agent obeys
// (package trust), and does no I/O; where time matters it takes now as an
// argument. The provider and the agent meet only here.
//
// Start with [Agent], [Scope] and [Receipt]; then [Encode] and [Decode]. It
// imports no other package of this module.
package control

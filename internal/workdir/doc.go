// Package workdir keeps the state of one working directory of the command line,
// as terraform keeps it: a state file with a backup and a lock that excludes
// terraform as well. Beside them lies a journal of changes under way, so that a
// process that dies in the middle of an apply loses nothing.
//
// It is not for the agent's state, which lives in the store, and it calls no
// providers.
//
// Start with [OpenState]. It may import states, journal and tfdiags.
package workdir

// Package workdir keeps what belongs to one working directory of the command line,
// as terraform keeps it: which backend was initialised, which workspace is
// selected, and the workspace's state, locked. Beside the state lies a journal of
// changes under way, so that a process that dies in the middle of an apply loses
// nothing.
//
// It is not for the agent's state, which lives in the store, and it calls no
// providers.
//
// Start with [Open]. It may import backend, configs, states, journal and tfdiags.
package workdir

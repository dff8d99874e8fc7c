// Package demo is every part of Towline at once, on one machine: a cloud, a
// repository, an environment enrolled by the real terraform, a published root
// module, and the real agent. `make demo` tells its story; the tests of this
// package do to it what may happen to the real thing.
//
// It is not for use by anything that ships, and holds nothing that Towline does
// itself: it starts programs, changes objects by hand and looks at what comes of it.
//
// Start with [Tell] for the story and with [World] for the parts. It may import
// everything but package engine and what only the engine needs: what the agent
// does is to be seen from outside.
package demo

// Package stream writes what an operation does as terraform's machine-readable
// messages, one JSON object a line, for programs that watch a plan or an apply.
//
// It is not for people (the command line renders for them), nor for plans and
// states as documents (package planjson).
//
// Start with [New]. It may import engine, plans, states, addrs and tfdiags.
package stream

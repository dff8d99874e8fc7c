// Package genconfig writes the configuration of an object that is there already,
// for import blocks whose resource nobody has declared yet.
//
// It is not for changing configuration that somebody has written. What it writes
// is a beginning: people review it, and a provider may refuse some of it.
//
// Start with [Resource]. It may import addrs and providers.
package genconfig

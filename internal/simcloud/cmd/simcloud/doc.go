// Command simcloud serves a simulated cloud until it is told to stop. It prints
// its URL on standard output once it listens.
//
// It only reads flags; package simcloud is the cloud. Start with [run].
package main

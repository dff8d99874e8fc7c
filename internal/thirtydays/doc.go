// Package thirtydays replays a published model of thirty days in which people change
// a cloud by hand, with real agents on the simulated cloud and a clock that is moved.
// What it tells is read from the agents' receipts and the cloud's own log.
//
// It is not for measuring speed, and it is no part of the shipped programs.
//
// Start with [Replay]. It may import everything but the command line.
package thirtydays

// Package oracletest runs the real terraform binary and the engine on the same
// configuration and state, for tests that compare what the two print.
//
// It is for tests only. The engine always starts from the state that terraform
// wrote, so that ids and other invented values are the same on both sides.
//
// Start with [New]. It may import every package of the engine.
package oracletest

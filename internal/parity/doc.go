// Package parity proves that towline does what terraform does: it runs both
// programs on the same cases and compares all that they show and keep.
//
// A case is a folder below testdata with a configuration and a file "steps"
// ([Case] says how it is written). Each program works in a directory of its own.
// After every step exit codes, problems, plans, texts and states must be equal
// but for names and times that the programs invent, and at the end each program
// must plan the other's directory as the other plans it.
//
// It is for tests only, nothing that ships imports it, and it is not for what can
// be tested inside one package. It may import plugintest and the simulated cloud,
// which stand for other people's programs, and nothing of the engine.
//
// Start with [Bench.Run].
package parity

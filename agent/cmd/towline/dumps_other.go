//go:build !linux

package main

// forbidDumps does nothing here: agents run on Linux, and elsewhere for trying out.
func forbidDumps() error { return nil }

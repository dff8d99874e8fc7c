//go:build !linux

package process

import "os/exec"

// endWithParent does nothing: only Linux ties a process to its parent's life.
func endWithParent(*exec.Cmd) {}

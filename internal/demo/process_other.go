//go:build unix && !linux

package demo

import "syscall"

// OwnGroup puts a child into a process group of its own, so that an interrupt on
// the terminal reaches this process only.
func OwnGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

package demo

import "syscall"

// OwnGroup puts a child into a process group of its own, so that an interrupt on
// the terminal reaches this process only, and has the kernel end it with this process.
func OwnGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

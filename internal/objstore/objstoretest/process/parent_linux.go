package process

import (
	"os/exec"
	"syscall"
)

// endWithParent makes the kernel end the server should the tests die.
func endWithParent(process *exec.Cmd) {
	process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

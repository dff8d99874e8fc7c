//go:build unix

package provisioners

import (
	"os/exec"
	"syscall"
)

// isolate makes a command the leader of a process group and ends the whole group
// with it, so that nothing it has started is left behind.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

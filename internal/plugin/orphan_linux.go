package plugin

import (
	"os/exec"
	"syscall"
)

// endWithUs has the kernel end a provider when this process dies without being
// able to. A provider that went on alone could still be creating what the next
// process finds absent and creates as well.
func endWithUs(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

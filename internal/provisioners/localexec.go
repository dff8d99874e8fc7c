package provisioners

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// localExec runs a command on this machine.
type localExec struct{}

// killDelay is how long an interrupted command gets to end, as what it has
// started may keep its output open.
const killDelay = 5 * time.Second

func (localExec) Schema() *providers.Block {
	return optional(map[string]cty.Type{
		"command": cty.String, "interpreter": cty.List(cty.String), "working_dir": cty.String,
		"environment": cty.Map(cty.String), "quiet": cty.Bool,
	}, "command")
}

func (localExec) Validate(cty.Value) tfdiags.Diagnostics { return nil }

// Run implements [Provisioner].
func (localExec) Run(ctx context.Context, req Request) tfdiags.Diagnostics {
	const summary = "local-exec provisioner error"
	command := text(req.Config, "command")
	if command == "" {
		return tfdiags.New(tfdiags.Error, "Invalid local-exec provisioner command", "The command is empty, so there is nothing to run. Set the command argument to what the shell is to do.")
	}
	cmd := shellCommand(ctx, command, texts(req.Config, "interpreter"))
	cmd.Dir = text(req.Config, "working_dir")
	cmd.Env = append(os.Environ(), environment(req.Config.GetAttr("environment"))...)
	out := newLines(req.Output)
	cmd.Stdout, cmd.Stderr = out, out // one writer, so that the order is kept
	if truth(req.Config, "quiet") {
		req.Output("local-exec: Executing: Suppressed by quiet=true")
	} else {
		req.Output(fmt.Sprintf("Executing: %q", cmd.Args))
	}
	err := cmd.Run()
	out.flush()
	if err != nil {
		return tfdiags.New(tfdiags.Error, summary, fmt.Sprintf("Error running command '%s': %s. Output: %s", command, err, out.tail()))
	}
	return nil
}

// shellCommand hands a command to an interpreter, by default the system's shell.
func shellCommand(ctx context.Context, command string, interpreter []string) *exec.Cmd {
	if len(interpreter) == 0 {
		interpreter = []string{"/bin/sh", "-c"}
		if runtime.GOOS == "windows" {
			interpreter = []string{"cmd", "/C"}
		}
	}
	cmd := exec.CommandContext(ctx, interpreter[0], append(interpreter[1:len(interpreter):len(interpreter)], command)...)
	cmd.WaitDelay = killDelay
	isolate(cmd)
	return cmd
}

func environment(vars cty.Value) []string {
	if vars.IsNull() {
		return nil
	}
	var out []string
	for it := vars.ElementIterator(); it.Next(); {
		if name, value := it.Element(); !value.IsNull() {
			out = append(out, name.AsString()+"="+value.AsString())
		}
	}
	return out
}

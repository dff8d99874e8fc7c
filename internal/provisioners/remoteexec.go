package provisioners

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/pkg/sftp"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// remoteExec runs scripts on another machine.
type remoteExec struct{}

const (
	// maxScript bounds a script that is read into memory.
	maxScript = 16 << 20
	// maxScripts bounds how many scripts one block may have.
	maxScripts = 1000
)

func (remoteExec) Schema() *providers.Block {
	return optional(map[string]cty.Type{"inline": cty.List(cty.String), "script": cty.String, "scripts": cty.List(cty.String)})
}

// Validate implements [Provisioner].
func (remoteExec) Validate(config cty.Value) tfdiags.Diagnostics {
	set := 0
	for _, name := range []string{"inline", "script", "scripts"} {
		if !config.GetAttr(name).IsNull() {
			set++
		}
	}
	if set != 1 {
		return tfdiags.New(tfdiags.Error, "Invalid remote-exec provisioner configuration", `Set exactly one of "inline", "script" and "scripts": it says what to run.`)
	}
	return nil
}

// Run implements [Provisioner].
func (r remoteExec) Run(ctx context.Context, req Request) tfdiags.Diagnostics {
	if diags := r.Validate(req.Config); diags.HasErrors() {
		return diags
	}
	const summary = "remote-exec provisioner error"
	scripts, err := readScripts(req.Config)
	if err != nil {
		return failed(summary, err)
	}
	conn, diags := dial(ctx, req, summary)
	if diags.HasErrors() {
		return diags
	}
	defer conn.close()
	for _, script := range scripts {
		if err := conn.runScript(script, req.Output); err != nil {
			return failed(summary, err)
		}
	}
	return nil
}

// readScripts returns the texts of what is to run, in order.
func readScripts(config cty.Value) ([]string, error) {
	if inline := texts(config, "inline"); !config.GetAttr("inline").IsNull() {
		script := strings.Join(inline, "\n") + "\n"
		if !strings.HasPrefix(script, "#!") {
			script = "#!/bin/sh\n" + script
		}
		return []string{script}, nil
	}
	paths := texts(config, "scripts")
	if script := text(config, "script"); script != "" {
		paths = []string{script}
	}
	if len(paths) > maxScripts {
		return nil, fmt.Errorf("there are more than %d scripts", maxScripts)
	}
	var scripts []string
	for _, p := range paths {
		script, err := readScript(p)
		if err != nil {
			return nil, err
		}
		scripts = append(scripts, script)
	}
	return scripts, nil
}

func readScript(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("open script: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	content, err := io.ReadAll(io.LimitReader(f, maxScript+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read script: %w", err)
	case len(content) > maxScript:
		return "", fmt.Errorf("the script %s is larger than %d MiB", name, maxScript>>20)
	default:
		return string(content), nil
	}
}

// runScript brings a script to the other machine, runs it and removes it again.
func (c *connection) runScript(script string, output func(string)) (err error) {
	client, err := sftp.NewClient(c.client)
	if err != nil {
		return fmt.Errorf("begin a file transfer: %w", err)
	}
	defer client.Close() //nolint:errcheck // what was written is closed on its own
	remote := strings.ReplaceAll(c.settings.scriptPath, "%RAND%", rand.Text())
	// Only its owner reads it: scripts hold secrets.
	if err := writeFile(client, remote, strings.NewReader(script), 0o700); err != nil {
		return err
	}
	defer func() {
		if removeErr := client.Remove(remote); err == nil && removeErr != nil {
			err = fmt.Errorf("remove the script: %w", removeErr)
		}
	}()
	session, err := c.client.NewSession()
	if err != nil {
		return fmt.Errorf("begin a session: %w", err)
	}
	defer session.Close() //nolint:errcheck // it has ended
	out := newLines(output)
	session.Stdout, session.Stderr = out, out
	err = session.Run(remote)
	out.flush()
	if err != nil {
		return errors.Join(fmt.Errorf("error executing %q: %w", remote, err), c.ctx.Err())
	}
	return nil
}

package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Enrol applies examples/enrol with the real terraform, checks that a second plan
// is empty, and puts what the agent needs onto its machine.
func (w *World) Enrol(ctx context.Context) (Result, error) {
	if err := w.copyExample("enrol"); err != nil {
		return Result{}, err
	}
	if err := w.writeVariables(); err != nil {
		return Result{}, err
	}
	if err := w.write("enrol/demo_override.tf", w.opts.Override); err != nil {
		return Result{}, err
	}
	if _, err := w.Terraform(ctx, "init", "-input=false", "-no-color"); err != nil {
		return Result{}, err
	}
	applied, err := w.Terraform(ctx, "apply", "-auto-approve", "-input=false", "-no-color")
	if err != nil {
		return applied, err
	}
	if _, err := w.Terraform(ctx, "plan", "-input=false", "-no-color", "-detailed-exitcode"); err != nil {
		return applied, fmt.Errorf("the plan after enrolling is not empty: %w", err)
	}
	if err := w.checkSecrets(); err != nil {
		return applied, err
	}
	return applied, w.furnishAgent(ctx)
}

// checkSecrets makes sure that the state holds neither the signing key nor the
// join token.
func (w *World) checkSecrets() error {
	state, err := os.ReadFile(w.path("enrol", "terraform.tfstate"))
	if err != nil {
		return fmt.Errorf("read the state: %w", err)
	}
	for _, name := range []string{"signing-key.pem", "agent/join-token"} {
		secret, err := os.ReadFile(w.path(filepath.FromSlash(name)))
		if err != nil {
			return fmt.Errorf("read a secret: %w", err)
		}
		lines := strings.Split(strings.TrimSpace(string(secret)), "\n")
		if strings.Contains(string(state), lines[len(lines)/2]) {
			return fmt.Errorf("terraform's state holds the content of %s", name)
		}
	}
	return nil
}

func (w *World) writeVariables() error {
	approver, err := os.ReadFile(w.path("on-call.pub"))
	if err != nil {
		return fmt.Errorf("read the approver's key: %w", err)
	}
	text, err := json.MarshalIndent(map[string]any{
		"repository": w.url, "approvers": []string{strings.TrimSpace(string(approver))},
		"directory": w.path("agent"), "slack_webhook_file": w.path("agent", "slack-webhook"),
		"poll_interval": w.opts.Poll.String(), "grace": w.opts.Grace.String(), "force_destroy": true,
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("write variables: %w", err)
	}
	return w.write("enrol/terraform.tfvars.json", string(text))
}

// furnishAgent writes the agent's configuration and trusted root, which terraform
// has rendered. The join token is there already: terraform wrote it to its file.
func (w *World) furnishAgent(ctx context.Context) error {
	for output, keep := range map[string]func(string) error{
		"agent_config": func(text string) error { return w.write("agent/agent.hcl", text) },
		"trusted_root": func(text string) error { return w.write("agent/root.json", text) },
		"fingerprint":  func(text string) error { w.fingerprint = text; return nil },
	} {
		result, err := w.Terraform(ctx, "output", "-raw", output)
		if err != nil {
			return err
		}
		if err := keep(result.Stdout); err != nil {
			return err
		}
	}
	return nil
}

// copyExample copies a folder of examples/, so that nothing is written into the clone.
func (w *World) copyExample(name string) error {
	source := filepath.Join(w.opts.Programs.Root, "examples", name)
	if err := os.CopyFS(w.path(name), os.DirFS(source)); err != nil {
		return fmt.Errorf("copy examples/%s: %w", name, err)
	}
	return nil
}

// Prepare copies a root module of examples/ and locks its providers.
func (w *World) Prepare(ctx context.Context, example string) (Result, error) {
	if err := w.copyExample(example); err != nil {
		return Result{}, err
	}
	return w.Towline(ctx, "-chdir="+w.path(example), "init")
}

// Publish publishes a prepared root module.
func (w *World) Publish(ctx context.Context, example, message string) (Result, error) {
	return w.Towline(ctx, "publish", "-channel", channel, "-message", message, w.path(example))
}

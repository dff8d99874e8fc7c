package provider

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// maxExposure is what systemd-analyze may find open, from 0 to 10. What is left is the
// network, which the agent is for, and the rights of a user.
const maxExposure = 1.5

// TestUnitIsSandboxed has systemd say how much of the machine the agent's unit leaves open,
// and whether it understands all of it.
func TestUnitIsSandboxed(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Fatal("systemd-analyze is needed; Debian has it in the package systemd")
	}
	unit, err := systemdUnit(onS3())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "towline-agent.service")
	if err := os.WriteFile(path, []byte(unit), 0o600); err != nil {
		t.Fatal(err)
	}
	report, err := exec.CommandContext(t.Context(), "systemd-analyze", "security", "--offline=true", "--no-pager", path).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, report)
	}
	if ignored := regexp.MustCompile(`(?m)^.*(?:ignoring|Unknown key|Failed to parse).*$`).FindAll(report, -1); len(ignored) > 0 {
		t.Errorf("systemd does not understand the unit: %s", ignored)
	}
	found := regexp.MustCompile(`Overall exposure level[^:]*: ([0-9.]+)`).FindSubmatch(report)
	if found == nil {
		t.Fatalf("no level in %s", report)
	}
	if level, err := strconv.ParseFloat(string(found[1]), 64); err != nil || level > maxExposure {
		t.Errorf("exposure %s, want at most %.1f:\n%s", found[1], maxExposure, report)
	}
	t.Logf("exposure %s", found[1])
}

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/trust"
)

// towline runs a verb on the repository and returns what it wrote.
func (p *planting) towline(args ...string) (stdout, stderr string, ok bool) {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), p.path("towline"), args...)
	cmd.Env = append(os.Environ(), repositoryEnv+"=file://"+p.path("store"), identitiesEnv+"=", "GORACE=atexit_sleep_ms=0", "HOME="+p.dir)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	err := cmd.Run()
	return out.String(), problems.String(), err == nil
}

// keyFile writes a signing key into a file.
func (p *planting) keyFile(name string, key trust.Key) string {
	p.t.Helper()
	text, err := key.PEM()
	p.must(err)
	p.write(name, string(text))
	return p.path(name)
}

// TestStateIsFetchedAndRewrapped has a real agent leave a state. Who signs for the
// environment can read it and let a machine that took the first one's place read it; a
// stranger can do neither.
func TestStateIsFetchedAndRewrapped(t *testing.T) {
	t.Parallel()
	p := newPlanting(t)
	p.publish("none@read")
	p.round(exitOK)
	stranger, err := trust.GenerateKey()
	p.must(err)
	owner, other := p.keyFile("owner.pem", p.key), p.keyFile("stranger.pem", stranger)

	state, _, ok := p.towline("state", "fetch", "-environment", "prod", "-key", owner)
	local, err := os.ReadFile(p.path("data/state.json"))
	p.must(err)
	if !ok || state != string(local) || !strings.Contains(state, p.values["attribute"]) {
		t.Errorf("fetched: %t, %d bytes, want the %d of the machine's own", ok, len(state), len(local))
	}
	for name, args := range map[string][]string{
		"no key": {"state", "fetch", "-environment", "prod"}, "a stranger's key": {"state", "fetch", "-environment", "prod", "-key", other},
		"a stranger gives": {"state", "rewrap", "-environment", "prod", "-key", other},
	} {
		if out, problems, ok := p.towline(args...); ok || out != "" || !strings.Contains(problems, "State cannot be opened") || !strings.Contains(problems, "towline_agent's recipients") {
			t.Errorf("%s: %t, %q, %s", name, ok, out, problems)
		}
	}
	if _, problems, ok := p.towline("state", "fetch", "-key", owner); ok || !strings.Contains(problems, "Environment is missing") {
		t.Errorf("without an environment: %s", problems)
	}

	p.must(os.RemoveAll(p.path("data")))
	p.declare()
	p.round(exitFailed)
	if !strings.Contains(p.said(), "towline state rewrap -repository file://"+filepath.ToSlash(p.path("store"))+" -environment prod -key FILE") {
		t.Errorf("the new machine says nothing of what to do: %s", p.said())
	}
	if _, problems, ok := p.towline("state", "rewrap", "-environment", "prod", "-key", owner); !ok || !strings.Contains(problems, "Agent a1, key ") {
		t.Errorf("rewrapped: %t, %s", ok, problems)
	}
	p.round(exitOK)
	again, err := os.ReadFile(p.path("data/state.json"))
	p.must(err)
	if !strings.Contains(string(again), p.values["attribute"]) || strings.Count(p.said(), "actions=[create]") != 4 {
		t.Errorf("the new machine did not take up the objects: %s", p.said())
	}
	p.everywhere()
}

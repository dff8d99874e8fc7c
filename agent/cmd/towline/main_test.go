package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets scripts run this very program: the test binary executes itself.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"towline": main})
}

// TestScripts runs testdata/script. Each script has a store of its own in
// $WORK/store, and the commands of script_test.go to play provider and agent.
func TestScripts(t *testing.T) {
	t.Parallel()
	stopServer(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", RequireExplicitExec: true, RequireUniqueNames: true,
		Cmds: scriptCommands,
		Setup: func(env *testscript.Env) error {
			env.Setenv("TOWLINE_REPOSITORY", "file://"+env.Getenv("WORK")+"/store")
			env.Values[registryKey{}] = &registryBox{}
			env.Setenv("HOME", env.Getenv("WORK"))
			env.Setenv("GORACE", "atexit_sleep_ms=0") // by default each process waits a second
			return nil
		},
	})
}

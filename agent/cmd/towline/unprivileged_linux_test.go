package main

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// nobody is a user with no rights beyond its own files.
const nobody = 65534

// TestAgentNeedsNoRoot has a user without any right do rounds with a real provider. Whoever
// runs the tests without being root is such a user.
func TestAgentNeedsNoRoot(t *testing.T) {
	t.Parallel()
	p := newPlanting(t)
	p.publish("none@read")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for range 2 {
		cmd := p.agent(ctx)
		if os.Getuid() == 0 {
			p.handOver(nobody)
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		}
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v\n%s", err, p.said())
		}
	}
	info, err := os.Stat(p.path("data/state.json"))
	p.must(err)
	if owner, ok := info.Sys().(*syscall.Stat_t); !ok || owner.Uid == 0 {
		t.Errorf("the agent ran as %+v", owner)
	}
}

// handOver makes another user the owner of everything, the program under test included.
func (p *planting) handOver(user int) {
	p.t.Helper()
	program := p.path("towline")
	self, err := filepath.EvalSymlinks(program)
	p.must(err)
	if self != program { // it lies where nobody else gets to
		p.must(os.Remove(program))
		p.must(os.Link(self, program))
	}
	p.must(os.Chmod(filepath.Dir(p.dir), 0o711)) //nolint:gosec // so that others get through
	p.must(filepath.WalkDir(p.dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || path == program { // which is the test binary itself
			return err
		}
		return os.Lchown(path, user, user)
	}))
}

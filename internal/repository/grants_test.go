package repository_test

import (
	"crypto/ed25519"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore/mem"
	"github.com/towline/terraform-provider-towline/internal/repository"
)

var grantTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// breakGlass is a policy with one approver.
func breakGlass(t *testing.T) (ssh.Signer, map[string]control.BreakGlassPolicy) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return signer, map[string]control.BreakGlassPolicy{"fix": {
		Version: control.FormatVersion, Environment: "prod", Name: "fix", Scopes: []string{"all"}, Approvals: 1, MaxDuration: control.Duration(time.Hour),
		Approvers: []string{strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signer.PublicKey())))},
	}}
}

func signedRequest(t *testing.T, signer ssh.Signer) []byte {
	t.Helper()
	signed, err := control.SignGrantRequest(control.GrantRequest{Version: control.FormatVersion, ID: "g1", Environment: "prod", Policy: "fix",
		Targets: []string{"a.b"}, Opened: grantTime, Until: grantTime.Add(time.Minute)}, signer)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// Whoever can write to the store hides neither a grant nor its end by putting others beside it.
func TestAttackGrantsFlooded(t *testing.T) {
	t.Parallel()
	signer, policies := breakGlass(t)
	store := mem.New("flooded")
	closure, err := control.SignGrantClosure(control.GrantClosure{Version: control.FormatVersion, ID: "g1", Closed: grantTime}, signer)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{control.GrantRequestKey("prod", "g1"): signedRequest(t, signer), control.GrantClosureKey("prod", "g1", control.ApproverID(signer.PublicKey())): closure}
	for i := range 200 {
		files[control.GrantApprovalKey("prod", "g1", fmt.Sprintf("%032d", i))] = []byte("{}")
		files[control.GrantExtensionKey("prod", "g1", grantTime.Add(time.Duration(i)*time.Second), control.ApproverID(signer.PublicKey()))] = []byte("{}")
	}
	for key, data := range files {
		if _, err := store.Put(t.Context(), key, data); err != nil {
			t.Fatal(err)
		}
	}
	got, err := repository.ReadGrants(t.Context(), store, &repository.State{Environment: "prod", Policies: policies})
	if err != nil {
		t.Fatal(err)
	}
	record, err := got.Record("prod", "g1", policies, grantTime)
	if err != nil || record.Refusal != nil || record.Grant.Phase != control.GrantExpired && record.Grant.Phase != control.GrantClosed {
		t.Errorf("record %+v, %v", record.Grant, err)
	}
	if len(got["g1"]) > 101 {
		t.Errorf("%d files were read", len(got["g1"]))
	}
}

// Of two requests under one key the one that holds counts, whichever comes first.
func TestGrantFilesOfTwoPlaces(t *testing.T) {
	t.Parallel()
	signer, policies := breakGlass(t)
	key := control.GrantRequestKey("prod", "g1")
	good, bad := repository.GrantFiles{"g1": {{Key: key, Data: signedRequest(t, signer)}}}, repository.GrantFiles{"g1": {{Key: key, Data: []byte("{}")}}}
	for name, both := range map[string]repository.GrantFiles{"bad first": bad.With(good), "good first": good.With(bad), "twice": good.With(good)} {
		records := both.Records("prod", policies, grantTime)
		if len(records) != 1 || records[0].Refusal != nil || records[0].Grant.Phase != control.GrantOpen {
			t.Errorf("%s: %+v", name, records)
		}
	}
	if twice := good.With(good); len(twice["g1"]) != 1 {
		t.Errorf("the same file counts %d times", len(twice["g1"]))
	}
}

// What root writes belongs to the agent's user, who must be able to read and remove it.
func TestGrantFolderBelongsToTheAgent(t *testing.T) {
	t.Parallel()
	agent := os.Geteuid() // who is not root writes for nobody else
	if agent == 0 {
		agent = 65534
	}
	dir := t.TempDir()
	if err := os.Chown(dir, agent, -1); err != nil {
		t.Fatal(err)
	}
	signer, _ := breakGlass(t)
	folder := repository.OpenGrantFolder(dir, "prod")
	if err := folder.Add(repository.SignedFile{Key: control.GrantRequestKey("prod", "g1"), Data: signedRequest(t, signer)}); err != nil {
		t.Fatal(err)
	}
	for path, mode := range map[string]os.FileMode{folder.Path(): 0o700, filepath.Join(folder.Path(), "g1.request.json"): 0o600} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if owner, ok := info.Sys().(*syscall.Stat_t); !ok || int(owner.Uid) != agent || info.Mode().Perm() != mode {
			t.Errorf("%s belongs to %+v with %v", path, owner, info.Mode())
		}
	}
}

// A listing tells of whatever may have changed what the folder holds, and of nothing else.
func TestGrantListing(t *testing.T) {
	t.Parallel()
	old := time.Now().Add(-time.Hour)
	write := func(t *testing.T, path, data string, changed time.Time) {
		t.Helper()
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, changed, changed); err != nil {
			t.Fatal(err)
		}
	}
	for name, test := range map[string]struct {
		changed time.Time // before the first listing
		change  func(t *testing.T, dir string)
		same    bool
	}{
		"nothing":               {old, func(*testing.T, string) {}, true},
		"a file in the making":  {old, func(t *testing.T, dir string) { t.Helper(); write(t, filepath.Join(dir, ".new"), "{}", old) }, true},
		"changed a moment ago":  {time.Now().Add(24 * time.Hour), func(*testing.T, string) {}, false}, // parallel tests may wait for long
		"another file":          {old, func(t *testing.T, dir string) { t.Helper(); write(t, filepath.Join(dir, "b"), "{}", old) }, false},
		"another size":          {old, func(t *testing.T, dir string) { t.Helper(); write(t, filepath.Join(dir, "a"), "{ }", old) }, false},
		"another time":          {old, func(t *testing.T, dir string) { t.Helper(); write(t, filepath.Join(dir, "a"), "[]", old.Add(1)) }, false},
		"other rights":          {old, func(t *testing.T, dir string) { t.Helper(); must(t, os.Chmod(filepath.Join(dir, "a"), 0o400)) }, false},
		"removed":               {old, func(t *testing.T, dir string) { t.Helper(); must(t, os.Remove(filepath.Join(dir, "a"))) }, false},
		"the folder is removed": {old, func(t *testing.T, dir string) { t.Helper(); must(t, os.RemoveAll(dir)) }, false},
		"another in its place": {old, func(t *testing.T, dir string) {
			t.Helper()
			write(t, filepath.Join(dir, ".new"), "[]", old)
			must(t, os.Rename(filepath.Join(dir, ".new"), filepath.Join(dir, "a")))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := repository.OpenGrantFolder(t.TempDir(), "prod")
			must(t, os.Mkdir(folder.Path(), 0o700))
			write(t, filepath.Join(folder.Path(), "a"), "{}", test.changed)
			list := func() repository.GrantListing {
				listing, err := folder.List()
				must(t, err)
				return listing
			}
			first := list()
			test.change(t, folder.Path())
			if got := first.Same(list()); got != test.same {
				t.Errorf("same: %v, want %v", got, test.same)
			}
		})
	}
	if _, err := repository.OpenGrantFolder(filepath.Join(t.TempDir(), "gone"), "prod").List(); err == nil {
		t.Error("a data folder that is not there has a listing")
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

package bundle

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/towline/terraform-provider-towline/internal/trust"
)

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func read(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(name)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// verified signs content as a channel's revision and verifies it, as a client does.
func verified(t testing.TB, role, name string, content []byte) trust.Verified {
	t.Helper()
	key, err := trust.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	spec := trust.RoleSpec{Keys: []trust.PublicKey{key.Public()}, Threshold: 1, Expiry: time.Hour}
	s := trust.Signing{Keys: trust.Keyring{key}, Now: time.Now()}
	list := []trust.TargetInfo{trust.Describe(name, content, nil)}
	sign := func(data []byte, err error) ([]byte, trust.FileInfo) {
		if err != nil {
			t.Fatal(err)
		}
		return data, trust.FileInfo{Version: 1, Length: int64(len(data)), SHA256: trust.Digest(data)}
	}
	root, _ := sign(s.Root(1, trust.Top{Root: spec, Targets: spec, Snapshot: spec, Timestamp: spec}, nil))
	targets, targetsFile := sign(s.Targets(1, spec, []trust.Delegation{{Role: role, RoleSpec: spec}}))
	roleData, roleFile := sign(s.Role(1, role, spec, list))
	snapshot, snapshotFile := sign(s.Snapshot(1, spec, map[string]trust.FileInfo{trust.RoleTargets: targetsFile, role: roleFile}))
	timestamp, _ := sign(s.Timestamp(1, spec, snapshotFile))
	v, err := trust.NewVerifier(root, s.Now)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(v.Timestamp(timestamp), v.Snapshot(snapshot), v.Targets(targets), v.Role(role, roleData)); err != nil {
		t.Fatal(err)
	}
	out, err := v.List(role)[0].Verify(content)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func revision(t testing.TB, content []byte) trust.Verified {
	return verified(t, "channel-stable", "channels/stable/1.tar.zst", content)
}

func TestPackAndUnpack(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"main.tf": "# main", "vars.auto.tfvars": "a = 1", "x.tf.json": "{}", ".terraform.lock.hcl": "# locks",
		"modules/net/main.tf": "# net", "templates/a b.tpl": "${x}", "empty": "", "größe.txt": "ü",
	}
	leftOut := map[string]string{
		".terraform/providers/x": "binary", "terraform.tfstate": "{}", "terraform.tfstate.backup": "{}", "modules/net/.git/config": "",
		".env": "SECRET=1", "plan.tfplan": "", ".terraformignore": "*.log\nbuild/\n/docs/*.md\n", "debug.log": "", "build/out": "", "docs/a.md": "",
	}
	dir := t.TempDir()
	write(t, dir, want)
	write(t, dir, leftOut)
	archive, err := Pack(dir, DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	dest := filepath.Join(t.TempDir(), "unpacked")
	if err := Unpack(revision(t, archive.Data), dest, DefaultLimits); err != nil {
		t.Fatal(err)
	}
	if got := read(t, dest); !maps.Equal(got, want) {
		t.Errorf("unpacked %q; want %q", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
	if len(archive.Files) != len(want) {
		t.Errorf("the archive says it has %+v", archive.Files)
	}
	if err := Unpack(revision(t, archive.Data), dest, DefaultLimits); !errors.Is(err, fs.ErrExist) {
		t.Errorf("unpacking over it: %v; want %v", err, fs.ErrExist)
	}
}

func TestPackIsDeterministic(t *testing.T) {
	t.Parallel()
	files := map[string]string{"main.tf": strings.Repeat("resource ", 50_000), "a/b.tf": "b", "a.tf": "a"}
	var first []byte
	for range 3 {
		dir := t.TempDir()
		write(t, dir, files)
		past := time.Now().Add(-time.Duration(len(first)) * time.Hour)
		if err := os.Chtimes(filepath.Join(dir, "main.tf"), past, past); err != nil {
			t.Fatal(err)
		}
		archive, err := Pack(dir, DefaultLimits)
		if err != nil {
			t.Fatal(err)
		}
		if first != nil && !bytes.Equal(first, archive.Data) {
			t.Fatal("equal files gave other bytes")
		}
		first = archive.Data
	}
}

func TestExecutableBitTravels(t *testing.T) {
	t.Parallel()
	dir, dest := t.TempDir(), filepath.Join(t.TempDir(), "out")
	write(t, dir, map[string]string{"run.sh": "#!/bin/sh", "main.tf": ""})
	if err := os.Chmod(filepath.Join(dir, "run.sh"), 0o777); err != nil {
		t.Fatal(err)
	}
	archive, err := Pack(dir, DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	if err := Unpack(revision(t, archive.Data), dest, DefaultLimits); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"run.sh": true, "main.tf": false} {
		info, err := os.Stat(filepath.Join(dest, name))
		if err != nil || (info.Mode()&0o100 != 0) != want {
			t.Errorf("%s has mode %v, %v", name, info.Mode(), err)
		}
	}
}

func TestIgnoreRules(t *testing.T) {
	t.Parallel()
	rules, err := parseIgnore([]byte("# comment\n\n*.md\n!README.md\nsecret/\n/top.txt\na/*.tf\n!.npmrc\n**/deep.txt\n!.terraform\n!terraform.tfstate\n"))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		folder, want bool
	}{
		"main.tf": {false, false}, "x.md": {false, true}, "a/x.md": {false, true}, "README.md": {false, false},
		"secret": {true, true}, "a/secret": {true, true}, "top.txt": {false, true}, "a/x.tf": {false, true}, "b/x.tf": {false, false},
		".npmrc": {false, false}, ".hidden": {false, true}, "b/deep.txt": {false, true}, ".terraform.lock.hcl": {false, false},
		"modules/.terraform.lock.hcl": {false, true}, ".terraform": {true, true}, "terraform.tfstate": {false, true},
	}
	for name, test := range tests {
		if got := leaveOut(rules, name, test.folder); got != test.want {
			t.Errorf("leaveOut(%q) = %t; want %t", name, got, test.want)
		}
	}
	for _, bad := range []string{"[", "a/**/b"} {
		if _, err := parseIgnore([]byte(bad)); err == nil {
			t.Errorf("the pattern %q was accepted", bad)
		}
	}
}

func TestPackRefusals(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		prepare func(t *testing.T, dir string)
		want    error
	}{
		"link to a secret outside": {func(t *testing.T, dir string) { symlink(t, "/etc/passwd", filepath.Join(dir, "passwd")) }, ErrUnsafe},
		"link to a folder": {func(t *testing.T, dir string) {
			write(t, dir, map[string]string{"real/x": ""})
			symlink(t, "real", filepath.Join(dir, "link"))
		}, ErrUnsafe},
		"too many files": {func(t *testing.T, dir string) {
			write(t, dir, map[string]string{"1": "", "2": "", "3": "", "4": "", "5": ""})
		}, ErrLimit},
		"large file": {func(t *testing.T, dir string) { write(t, dir, map[string]string{"big": strings.Repeat("x", 101)}) }, ErrLimit},
		"large sum": {func(t *testing.T, dir string) {
			write(t, dir, map[string]string{"1": rep(90), "2": rep(90), "3": rep(90)})
		}, ErrLimit},
		"names of one sound": {func(t *testing.T, dir string) { write(t, dir, map[string]string{"Main.tf": "", "main.tf": ""}) }, ErrUnsafe},
		"no such folder":     {func(t *testing.T, dir string) { os.Remove(dir) }, fs.ErrNotExist},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			test.prepare(t, dir)
			if _, err := Pack(dir, Limits{Files: 4, FileSize: 100, TotalSize: 200, PackedSize: 1 << 20}); !errors.Is(err, test.want) {
				t.Errorf("Pack: %v; want %v", err, test.want)
			}
		})
	}
}

func rep(n int) string { return strings.Repeat("x", n) }

func symlink(t *testing.T, target, link string) {
	t.Helper()
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
}

// archiveOf makes an archive that [Pack] would not.
func archiveOf(t testing.TB, entries ...tar.Header) []byte {
	t.Helper()
	var plain bytes.Buffer
	writer := tar.NewWriter(&plain)
	for _, entry := range entries {
		if err := writer.WriteHeader(&entry); err != nil {
			t.Fatal(err)
		}
		if _, err := writer.Write(make([]byte, entry.Size)); err != nil && entry.Typeflag == tar.TypeReg {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return compress(t, plain.Bytes())
}

func compress(t testing.TB, data []byte) []byte {
	t.Helper()
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return encoder.EncodeAll(data, nil)
}

func regular(name string, size int64) tar.Header {
	return tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o644}
}

func TestUnverifiedIsRefused(t *testing.T) {
	t.Parallel()
	archive := archiveOf(t, regular("main.tf", 1))
	for name, given := range map[string]trust.Verified{
		"nothing verified":            {},
		"a document's signature only": verified(t, "env-prod", "environments/prod/scopes/x.json", archive),
	} {
		if err := Unpack(given, filepath.Join(t.TempDir(), "out"), DefaultLimits); !errors.Is(err, ErrUnverified) {
			t.Errorf("%s: %v; want %v", name, err, ErrUnverified)
		}
	}
}

// TestCrashedUnpack leaves what a crash leaves: a folder in the making.
func TestCrashedUnpack(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	old, young := filepath.Join(parent, tempPrefix+"old"), filepath.Join(parent, tempPrefix+"young")
	write(t, old, map[string]string{"half": "x"})
	write(t, young, map[string]string{"half": "x"})
	past := time.Now().Add(-2 * leftoverAge)
	if err := os.Chtimes(old, past, past); err != nil {
		t.Fatal(err)
	}
	if err := Unpack(revision(t, archiveOf(t, regular("main.tf", 1))), filepath.Join(parent, "out"), DefaultLimits); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(old); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the old leftover: %v", err)
	}
	if _, err := os.Stat(young); err != nil {
		t.Errorf("a folder that may be in use: %v", err)
	}
}

func FuzzExtract(f *testing.F) {
	f.Add(archiveOf(f, regular("main.tf", 10), regular("a/b", 20)))
	f.Add(archiveOf(f, tar.Header{Typeflag: tar.TypeSymlink, Name: "l", Linkname: "/etc"}))
	limits := Limits{Files: 10, FileSize: 1 << 16, TotalSize: 1 << 18, PackedSize: 1 << 20}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, archive := range [][]byte{data, compress(t, data)} { // zstd has a checksum, so plain tars get through more often
			checkExtract(t, archive, limits)
		}
	})
}

// checkExtract checks that whatever comes out lies inside and within the limits.
func checkExtract(t *testing.T, archive []byte, limits Limits) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "dir")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	err := extract(archive, dir, limits)
	files, total := 0, int64(0)
	walkErr := filepath.WalkDir(parent, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if !entry.Type().IsRegular() || !strings.HasPrefix(path, dir+string(filepath.Separator)) {
			return fmt.Errorf("%s came out", path)
		}
		info, err := entry.Info()
		files, total = files+1, total+info.Size()
		return err
	})
	if walkErr != nil || files > limits.Files || total > limits.TotalSize {
		t.Errorf("%d files of %d bytes came out, %v, %v", files, total, walkErr, err)
	}
}

// TestInstalledModulesTravel: what init installed is packed if it is named, without
// what is hidden in it, and nothing else of the hidden folder is, nor is it unpacked.
func TestInstalledModulesTravel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"main.tf": "", ".terraform/modules/modules.json": "{}", ".terraform/modules/a/main.tf": "", ".terraform/modules/a/.git/config": "",
		".terraform/modules/a/terraform.tfstate": "", ".terraform/modules/ab/main.tf": "", ".terraform/providers/p": "", ".terraform/terraform.tfstate": "",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	vendored := Vendored{Paths: []string{".terraform/modules/a", ".terraform/modules/modules.json"}, Files: map[string][]byte{".made.json": []byte("made")}}
	archive, err := PackWith(dir, DefaultLimits, vendored)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range archive.Files {
		got = append(got, f.Path)
	}
	want := []string{".terraform/modules/a/main.tf", ".terraform/modules/modules.json", "main.tf", ".made.json"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, name := range []string{".terraform/providers/p", ".terraform/modules", ".terraform/modules/../x", ".terraform/modules/a/.git/config", "a/.terraform/modules/x"} {
		if err := checkPath(name); !errors.Is(err, ErrUnsafe) {
			t.Errorf("%s may travel", name)
		}
	}
}

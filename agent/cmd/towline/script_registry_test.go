package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/towline/terraform-provider-towline/internal/registry/registrytest"
)

// registryKey finds a script's registry.
type registryKey struct{}

// startRegistry: a registry runs until the script ends. $REGISTRY is its host, and
// programs trust its certificate.
func startRegistry(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: registry")
	}
	server, err := registrytest.New(ts.Getenv("WORK"))
	ts.Check(err)
	ts.Defer(server.Close)
	ts.Setenv("REGISTRY", server.Host)
	ts.Setenv("SSL_CERT_FILE", server.CertFile)
	if box, ok := ts.Value(registryKey{}).(*registryBox); ok {
		box.server = server
	}
}

// registryBox keeps the registry of a script.
type registryBox struct{ server *registrytest.Server }

func theRegistry(ts *testscript.TestScript) *registrytest.Server {
	box, ok := ts.Value(registryKey{}).(*registryBox)
	if !ok || box.server == nil {
		ts.Fatalf("the script has no registry")
	}
	return box.server
}

// registryModule PATH VERSION DIR [GET]: the registry has a version of a module.
func registryModule(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: regmodule PATH VERSION DIR [GET]")
	}
	ts.Check(theRegistry(ts).AddModule(args[0], args[1], filesOf(ts, args[2]), append(args, "")[3]))
}

// registryToken TOKEN: the registry wants a token from now on.
func registryToken(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: regtoken TOKEN")
	}
	theRegistry(ts).Require(args[0])
}

// served PATH DIR: the registry's host serves a folder as an archive at a path.
func served(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: served PATH DIR")
	}
	archive, err := registrytest.TarGz(filesOf(ts, args[1]))
	ts.Check(err)
	theRegistry(ts).Put(args[0], archive, nil)
}

// filesOf reads the files of a folder by their names.
func filesOf(ts *testscript.TestScript, dir string) map[string]string {
	out := map[string]string{}
	root := ts.MkAbs(dir)
	ts.Check(filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if entry.Type()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(path)
			out[filepath.ToSlash(name)+" -> "+target] = ""
			return err
		}
		data, err := os.ReadFile(path)
		out[filepath.ToSlash(name)] = string(data)
		return err
	}))
	return out
}

// expand FILE: $REGISTRY and $WORK in a file are replaced by their values.
func expand(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		text := strings.NewReplacer("$REGISTRY", ts.Getenv("REGISTRY"), "$WORK", ts.Getenv("WORK")).Replace(ts.ReadFile(name))
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o600))
	}
}

// mistaken ARGUMENTS SUMMARY: both programs refuse to install a module with these
// arguments. Towline's problem has the summary, which is terraform's own where that
// is one about the configuration.
func mistaken(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mistake ARGUMENTS SUMMARY")
	}
	text := strings.NewReplacer("$REGISTRY", ts.Getenv("REGISTRY"), "$WORK", ts.Getenv("WORK"), ", ", "\n").Replace(args[0])
	for _, dir := range []string{"mt", "m"} {
		ts.Check(os.RemoveAll(ts.MkAbs(dir)))
		ts.Check(os.MkdirAll(ts.MkAbs(dir), 0o700))
		ts.Check(os.WriteFile(filepath.Join(ts.MkAbs(dir), "main.tf"), []byte("module \"a\" {\n"+text+"\n}\n"), 0o600))
	}
	want, got := runIn(ts, "terraform", "mt", "", []string{"get"}), runIn(ts, "towline", "m", "", []string{"get"})
	ts.Logf("terraform:\n%s\ntowline:\n%s", want.stderr, got.stderr)
	if want.code != 1 || got.code != 1 || !strings.Contains(got.stderr, "Error: "+args[1]) {
		ts.Fatalf("terraform exits with %d, towline with %d, and not for %q", want.code, got.code, args[1])
	}
}

// edit 's/OLD/NEW/' FILE: text in a file is replaced.
func edit(ts *testscript.TestScript, neg bool, args []string) {
	parts := strings.Split(args[0], "/")
	if neg || len(args) != 2 || len(parts) != 4 {
		ts.Fatalf("usage: sed s/OLD/NEW/ FILE")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(strings.ReplaceAll(ts.ReadFile(args[1]), parts[1], parts[2])), 0o600))
}

// registryProvider PATH VERSION [PLATFORM...]: the registry has packages of a provider,
// for this machine and for others. The program in them does nothing.
func registryProvider(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: regprovider PATH VERSION [PLATFORM...]")
	}
	_, name, _ := strings.Cut(args[0], "/")
	for _, platform := range append(args[2:], runtime.GOOS+"_"+runtime.GOARCH) {
		program := fmt.Sprintf("#!/bin/sh\necho %s %s\n", args[1], platform)
		archive, err := registrytest.Zip(map[string][]byte{"terraform-provider-" + name + "_v" + args[1]: []byte(program), "LICENSE": []byte("free\n")})
		ts.Check(err)
		ts.Check(theRegistry(ts).AddProvider(args[0], args[1], platform, archive))
	}
}

// spoil PATH-PART: somebody changes what the registry serves, where the path has this part.
func spoil(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: spoil PATH-PART")
	}
	if theRegistry(ts).Spoil(args[0]) == 0 {
		ts.Fatalf("nothing is served at %s", args[0])
	}
}

// registryForget: what was asked so far counts no more.
func registryForget(ts *testscript.TestScript, neg bool, _ []string) { theRegistry(ts).Asked() }

// registryAsked PATH-PART: somebody has asked for a path with this part since.
func registryAsked(ts *testscript.TestScript, neg bool, args []string) {
	asked := slices.ContainsFunc(theRegistry(ts).Asked(), func(path string) bool { return strings.Contains(path, args[0]) })
	if asked == neg {
		ts.Fatalf("asked for %s: %t", args[0], asked)
	}
}

// registryReplace PATH VERSION: the mirror has another package in the place of one.
func registryReplace(ts *testscript.TestScript, neg bool, args []string) {
	_, name, _ := strings.Cut(args[0], "/")
	archive, err := registrytest.Zip(map[string][]byte{"terraform-provider-" + name + "_v" + args[1]: []byte("#!/bin/sh\necho evil\n")})
	ts.Check(err)
	ts.Check(theRegistry(ts).AddProvider(args[0], args[1], runtime.GOOS+"_"+runtime.GOARCH, archive))
}

package install_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/plugin/cliconfig"
	"github.com/towline/terraform-provider-towline/internal/plugin/install"
	"github.com/towline/terraform-provider-towline/internal/plugin/lockfile"
)

func TestInstallAndLocate(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, fullMirror(t))
	i := w.open(t)
	reqs := requirements(t, "~> 1.0", "")
	mustFail(t, i.Check(install.Requirements{mustAddr(t, "towline/a"): nil}), "Inconsistent dependency lock file", "no version of it")

	result, diags := i.Install(t.Context(), reqs, install.Options{})
	mustPass(t, diags)
	if !result.LockCreated || result.LockChanged || len(result.Providers) != 2 {
		t.Errorf("result %+v", result)
	}
	mustPass(t, i.Check(reqs))
	for source, want := range map[string]string{"towline/a": "1.10.1", "example.com/towline/b": "2.0.0"} {
		exe, diags := i.Locate(t.Context(), mustAddr(t, source))
		mustPass(t, diags)
		text, err := os.ReadFile(exe.Path)
		if err != nil || exe.Version != want || string(text) != "program of "+source+" "+want {
			t.Errorf("%s: located %+v with %q (%v)", source, exe, text, err)
		}
		if info, err := os.Stat(exe.Path); err != nil || info.Mode()&0o100 == 0 {
			t.Errorf("%s: the program cannot be executed", source)
		}
	}

	again, diags := i.Install(t.Context(), reqs, install.Options{ReadonlyLock: true})
	mustPass(t, diags)
	for _, p := range again.Providers {
		if !p.Reused || !p.Present {
			t.Errorf("a second installation did %+v", p)
		}
	}
	if again.LockChanged || again.LockCreated {
		t.Error("a second installation changed the lock file")
	}
}

func TestLockIsRespected(t *testing.T) {
	t.Parallel()
	mirror := fullMirror(t)
	w := newWorkspace(t, mirror)
	_, diags := w.open(t).Install(t.Context(), requirements(t, "1.2.0", "1.2.0"), install.Options{})
	mustPass(t, diags)

	reused, diags := w.open(t).Install(t.Context(), requirements(t, ">= 1.0", ">= 1.0"), install.Options{})
	mustPass(t, diags)
	for _, p := range reused.Providers {
		if p.Version.String() != "1.2.0" {
			t.Errorf("%s went to %s without being asked", p.Addr, p.Version)
		}
	}
	if reused.LockChanged || !strings.Contains(w.lock(t), `constraints = "1.2.0"`) {
		t.Errorf("the lock file changed for constraints alone:\n%s", w.lock(t))
	}
	mustFail(t, w.open(t).Check(install.Requirements{mustAddr(t, "towline/a"): {"2.0.0"}}), "Inconsistent dependency lock file", "1.2.0 is selected")
	_, diags = w.open(t).Install(t.Context(), install.Requirements{mustAddr(t, "towline/a"): {">= 2.0"}}, install.Options{})
	mustFail(t, diags, "Failed to query available provider packages", "does not match")

	_, diags = w.open(t).Install(t.Context(), install.Requirements{mustAddr(t, "towline/a"): nil}, install.Options{ReadonlyLock: true})
	mustFail(t, diags, "Provider dependency changes detected", "readonly")
	upgraded, diags := w.open(t).Install(t.Context(), requirements(t, ">= 1.0", ">= 1.0"), install.Options{Upgrade: true})
	mustPass(t, diags)
	for _, p := range upgraded.Providers {
		if p.Version.String() != "2.0.0" || p.Reused {
			t.Errorf("upgraded to %+v", p)
		}
	}
	if strings.Count(w.lock(t), "h1:") != 2 {
		t.Errorf("hashes of other versions stay:\n%s", w.lock(t))
	}
	// What is no longer needed leaves the lock file.
	_, diags = w.open(t).Install(t.Context(), install.Requirements{mustAddr(t, "towline/a"): nil}, install.Options{})
	mustPass(t, diags)
	if strings.Contains(w.lock(t), "example.com") {
		t.Errorf("a provider that is not needed stays:\n%s", w.lock(t))
	}
}

func TestChangedPackagesAreRefused(t *testing.T) {
	t.Parallel()
	mirror := fullMirror(t)
	w := newWorkspace(t, mirror)
	a, b := mustAddr(t, "towline/a"), mustAddr(t, "example.com/towline/b")
	reqs := requirements(t, "1.0.0", "1.0.0")
	_, diags := w.open(t).Install(t.Context(), reqs, install.Options{})
	mustPass(t, diags)

	write(t, filepath.Join(mirror, "registry.terraform.io/towline/a/1.0.0", platform, "terraform-provider-a_v1.0.0"), "evil")
	_, diags = w.open(t).Locate(t.Context(), a)
	mustFail(t, diags, "Required plugins are not installed", "does not match any of the checksums")
	_, diags = w.open(t).Install(t.Context(), install.Requirements{a: {"1.0.0"}}, install.Options{})
	mustFail(t, diags, "Failed to install provider", "does not match any of the checksums")

	addPacked(t, mirror, "example.com/towline/b", "1.0.0", "terraform-provider-b_v1.0.0", "evil")
	if err := os.RemoveAll(filepath.Join(w.dir, ".terraform")); err != nil {
		t.Fatal(err)
	}
	_, diags = w.open(t).Install(t.Context(), install.Requirements{b: {"1.0.0"}}, install.Options{})
	mustFail(t, diags, "Failed to install provider", "does not match any of the checksums")
	if _, diags := w.open(t).Locate(t.Context(), b); !diags.HasErrors() {
		t.Error("a refused package can be run")
	}
}

// A lock file made on another machine may know the archive alone.
func TestArchiveHashCounts(t *testing.T) {
	t.Parallel()
	mirror := t.TempDir()
	addPacked(t, mirror, "towline/a", "1.0.0")
	w := newWorkspace(t, mirror)
	archive := filepath.Join(mirror, "registry.terraform.io/towline/a", "terraform-provider-a_1.0.0_"+platform+".zip")
	sum, err := exec.Command("sha256sum", archive).Output()
	if err != nil {
		t.Fatal(err)
	}
	zh := "zh:" + strings.Fields(string(sum))[0]
	lock := func(hash string) {
		write(t, filepath.Join(w.dir, lockfile.Name), fmt.Sprintf("provider \"registry.terraform.io/towline/a\" {\n version = \"1.0.0\"\n hashes = [%q]\n}\n", hash))
	}
	reqs := install.Requirements{mustAddr(t, "towline/a"): nil}
	lock("zh:0000")
	_, diags := w.open(t).Install(t.Context(), reqs, install.Options{})
	mustFail(t, diags, "Failed to install provider", "does not match")
	lock(zh)
	_, diags = w.open(t).Install(t.Context(), reqs, install.Options{})
	mustPass(t, diags)
	if text := w.lock(t); !strings.Contains(text, zh) || !strings.Contains(text, "h1:") {
		t.Errorf("the lock file lacks a hash:\n%s", text)
	}
}

func TestBadArchives(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		files []string
		want  string
	}{
		"leads out":    {[]string{"../evil", "x"}, "leads out of the package"},
		"absolute":     {[]string{"/evil", "x"}, "leads out of the package"},
		"twice":        {[]string{"terraform-provider-a", "x", "terraform-provider-a", "y"}, "exists"},
		"no program":   {[]string{"README", "x"}, "no program"},
		"other's name": {[]string{"terraform-provider-abc", "x"}, "no program"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mirror := t.TempDir()
			addPacked(t, mirror, "towline/a", "1.0.0", test.files...)
			w := newWorkspace(t, mirror)
			i := w.open(t)
			_, diags := i.Install(t.Context(), install.Requirements{mustAddr(t, "towline/a"): nil}, install.Options{})
			if !diags.HasErrors() {
				_, diags = i.Locate(t.Context(), mustAddr(t, "towline/a"))
			}
			if !diags.HasErrors() || !strings.Contains(diags[0].Detail, test.want) {
				t.Errorf("got %v, want %q", diags, test.want)
			}
			if left, err := filepath.Glob(filepath.Join(w.dir, ".terraform/providers/*/*/*/*/.*")); err != nil || len(left) > 0 {
				t.Errorf("%v is left (%v)", left, err)
			}
		})
	}
	t.Run("not an archive", func(t *testing.T) {
		t.Parallel()
		mirror := t.TempDir()
		write(t, filepath.Join(mirror, "registry.terraform.io/towline/a/terraform-provider-a_1.0.0_"+platform+".zip"), "no zip")
		_, diags := newWorkspace(t, mirror).open(t).Install(t.Context(), install.Requirements{mustAddr(t, "towline/a"): nil}, install.Options{})
		mustFail(t, diags, "Failed to install provider", "cannot read the provider package")
	})
}

func TestUnavailable(t *testing.T) {
	t.Parallel()
	mirror := fullMirror(t)
	for name, test := range map[string]struct{ rc, source, constraint, want string }{
		"no such version":      {`filesystem_mirror { path = "MIRROR" }`, "towline/a", ">= 9.0", "no available releases match the given constraints >= 9.0.0"},
		"prerelease not asked": {`filesystem_mirror { path = "MIRROR" }`, "towline/a", "> 2.0.0", "no available releases"},
		"no such provider":     {`filesystem_mirror { path = "MIRROR" }`, "towline/none", "", "no versions of it were found for " + platform},
		"mirror is missing":    {`filesystem_mirror { path = "MIRROR/none" }`, "towline/a", "", "cannot read the mirror"},
		"excluded":             {`filesystem_mirror { path = "MIRROR" exclude = ["towline/*"] }`, "towline/a", "", "no place"},
		"registry":             {`direct {}`, "towline/a", "", "direct installation from a registry is not asked here"},
		"network mirror":       {`network_mirror { url = "https://m.example.com/" }`, "towline/a", "", "the network mirror https://m.example.com/ is not asked here"},
		"registry besides":     {`filesystem_mirror { path = "MIRROR" } direct {}`, "towline/a", "> 2.0.0", "direct installation"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t, mirror)
			write(t, w.config, "provider_installation {\n"+strings.NewReplacer("MIRROR", mirror, " } ", "\n}\n", "{ ", "{\n", "\" ex", "\"\nex").Replace(test.rc)+"\n}\n")
			_, diags := w.open(t).Install(t.Context(), install.Requirements{mustAddr(t, test.source): {test.constraint}}, install.Options{})
			mustFail(t, diags, "Failed to query available provider packages", test.want)
		})
	}
}

func TestFirstPlaceWins(t *testing.T) {
	t.Parallel()
	first, second := t.TempDir(), t.TempDir()
	addUnpacked(t, first, "towline/a", "1.0.0")
	addUnpacked(t, second, "towline/a", "1.0.0")
	newer := addUnpacked(t, second, "towline/a", "1.1.0")
	w := newWorkspace(t, first)
	write(t, w.config, fmt.Sprintf("provider_installation {\nfilesystem_mirror {\npath = %q\n}\nfilesystem_mirror {\npath = %q\n}\ndirect {}\n}", first, second))
	result, diags := w.open(t).Install(t.Context(), install.Requirements{mustAddr(t, "towline/a"): {"1.0.0"}}, install.Options{})
	mustPass(t, diags)
	if got := result.Providers[0].From; !strings.Contains(got, first) {
		t.Errorf("installed from %s", got)
	}
	_, diags = w.open(t).Install(t.Context(), install.Requirements{mustAddr(t, "towline/a"): nil}, install.Options{Upgrade: true})
	mustPass(t, diags)
	got, err := filepath.EvalSymlinks(filepath.Join(w.dir, ".terraform/providers/registry.terraform.io/towline/a/1.1.0", platform))
	if err != nil {
		t.Fatal(err)
	}
	if want, err := filepath.EvalSymlinks(newer); err != nil || got != want {
		t.Errorf("installed %s, want a link to %s (%v)", got, want, err)
	}
}

func TestImpliedPlaces(t *testing.T) {
	t.Parallel()
	for name, below := range map[string]string{
		"working directory": "terraform.d/plugins", "home": ".terraform.d/plugins", "data": ".local/share/terraform/plugins",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t, "/unused")
			delete(w.vars, "TF_CLI_CONFIG_FILE")
			addUnpacked(t, filepath.Join(w.dir, below), "towline/a", "1.0.0")
			_, diags := w.open(t).Install(t.Context(), install.Requirements{mustAddr(t, "towline/a"): nil}, install.Options{})
			mustPass(t, diags)
			_, diags = w.open(t).Install(t.Context(), install.Requirements{mustAddr(t, "towline/other"): nil}, install.Options{})
			mustFail(t, diags, "Failed to query available provider packages", "direct installation from a registry is not asked here")
		})
	}
}

func TestPluginCache(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, fullMirror(t))
	cache := t.TempDir()
	w.vars["TF_PLUGIN_CACHE_DIR"] = cache
	_, diags := w.open(t).Install(t.Context(), requirements(t, "1.0.0", "1.0.0"), install.Options{})
	mustPass(t, diags)
	exe, diags := w.open(t).Locate(t.Context(), mustAddr(t, "example.com/towline/b"))
	mustPass(t, diags)
	resolved, err := filepath.EvalSymlinks(exe.Path)
	if err != nil {
		t.Fatal(err)
	}
	if want, err := filepath.EvalSymlinks(cache); err != nil || !strings.HasPrefix(resolved, want) {
		t.Errorf("the program is %s, want it in the cache %s (%v)", resolved, want, err)
	}
}

func TestOverrides(t *testing.T) {
	t.Parallel()
	dev := t.TempDir()
	write(t, filepath.Join(dev, "terraform-provider-a"), "own build")
	w := newWorkspace(t, t.TempDir())
	write(t, w.config, fmt.Sprintf("provider_installation {\ndev_overrides {\n\"towline/a\" = %q\n\"towline/empty\" = %q\n}\n}", dev, t.TempDir()))
	w.vars[install.ReattachVariable] = `{"towline/b":{"Protocol":"grpc","ProtocolVersion":6,"Pid":1,"Test":true,"Addr":{"Network":"unix","String":"/tmp/x"}}}`
	i := w.open(t)
	reqs := install.Requirements{mustAddr(t, "towline/a"): {">= 9.0"}, mustAddr(t, "towline/b"): {">= 9.0"}, mustAddr(t, "terraform.io/builtin/terraform"): nil}
	result, diags := i.Install(t.Context(), reqs, install.Options{})
	mustFail(t, diags, "Provider development overrides are in effect", dev)
	if diags.HasErrors() || len(result.Providers) != 0 {
		t.Errorf("installed %+v", result)
	}
	mustFail(t, i.Check(reqs), "Provider development overrides are in effect", dev)

	exe, diags := i.Locate(t.Context(), mustAddr(t, "towline/a"))
	mustPass(t, diags)
	if exe.Path != filepath.Join(dev, "terraform-provider-a") || exe.Version != "" {
		t.Errorf("located %+v", exe)
	}
	exe, diags = i.Locate(t.Context(), mustAddr(t, "towline/b"))
	mustPass(t, diags)
	if exe.Reattach == nil || exe.Reattach.ProtocolVersion != 6 || exe.Reattach.Addr.String() != "/tmp/x" {
		t.Errorf("located %+v", exe.Reattach)
	}
	_, diags = i.Locate(t.Context(), mustAddr(t, "towline/empty"))
	mustFail(t, diags, "Failed to start provider", "dev_overrides")
	_, diags = i.Locate(t.Context(), mustAddr(t, "towline/none"))
	mustFail(t, diags, "Inconsistent dependency lock file", "init")
	_, diags = i.Install(t.Context(), install.Requirements{mustAddr(t, "terraform.io/builtin/terraform"): {">= 1.0"}}, install.Options{})
	mustFail(t, diags, "Invalid dependency on built-in provider", "built in")
	_, diags = i.Install(t.Context(), install.Requirements{mustAddr(t, "towline/a"): {"=> x"}}, install.Options{})
	if !diags.HasErrors() || diags[0].Summary != "Invalid provider version constraints" {
		t.Errorf("got %v", diags)
	}
}

func TestBadReattach(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no json":  `{`,
		"address":  `{"a/b/c/d":{"Protocol":"grpc"}}`,
		"protocol": `{"a/b":{"Protocol":"netrpc"}}`,
		"network":  `{"a/b":{"Protocol":"grpc","Addr":{"Network":"udp","String":"x"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, diags := install.Open(t.TempDir(), cliconfig.Environment{Getenv: func(name string) string {
				return map[string]string{install.ReattachVariable: text}[name]
			}})
			mustFail(t, diags, "Invalid TF_REATTACH_PROVIDERS", "cannot be used")
		})
	}
}

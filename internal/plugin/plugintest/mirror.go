package plugintest

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// MirrorVariable names the environment variable with the root of a filesystem
// mirror of providers.
const MirrorVariable = "TOWLINE_TEST_PROVIDER_MIRROR"

// AWSVersion is the version of the AWS provider that tests run.
const AWSVersion = "5.100.0"

// maxMirrorDepth bounds the search for a mirror below the root of the file system.
const maxMirrorDepth = 4

// Mirror is [FindMirror] for tests: without a mirror the test fails, unless tests
// run with -short.
func Mirror(tb testing.TB) string {
	tb.Helper()
	if testing.Short() {
		tb.Skip("the AWS provider is not run with -short")
	}
	root := FindMirror()
	if root == "" {
		tb.Fatalf("no filesystem mirror with hashicorp/aws %s: unpack the provider below DIR/registry.terraform.io/hashicorp/aws/%s/%s_%s and set %s=DIR, or run with -short",
			AWSVersion, AWSVersion, runtime.GOOS, runtime.GOARCH, MirrorVariable)
	}
	return root
}

// AWS returns the program of the AWS provider in the [Mirror].
func AWS(tb testing.TB) string {
	tb.Helper()
	matches, err := filepath.Glob(filepath.Join(awsPackage(Mirror(tb)), "terraform-provider-aws*"))
	if err != nil || len(matches) != 1 {
		tb.Fatalf("want one program of the AWS provider, found %v (%v)", matches, err)
	}
	return matches[0]
}

func awsPackage(root string) string {
	return filepath.Join(root, "registry.terraform.io", "hashicorp", "aws", AWSVersion, runtime.GOOS+"_"+runtime.GOARCH)
}

// FindMirror returns the root of a filesystem mirror that holds the AWS provider:
// what [MirrorVariable] says, or what is found on this machine, "" if nothing is.
func FindMirror() string { return searchMirror() }

var searchMirror = sync.OnceValue(func() string {
	if root := os.Getenv(MirrorVariable); root != "" {
		return root
	}
	found := ""
	// Errors are folders that may not be read; a mirror is not in there.
	_ = filepath.WalkDir("/", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || !entry.IsDir():
			return nil
		case path == "/proc" || path == "/sys" || path == "/dev" || strings.Count(path, "/") > maxMirrorDepth:
			return fs.SkipDir
		}
		if _, err := os.Stat(awsPackage(path)); err == nil {
			found = path
			return fs.SkipAll
		}
		return nil
	})
	return found
})

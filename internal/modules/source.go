package modules

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/hashicorp/go-getter"
	tfaddr "github.com/hashicorp/terraform-registry-address"
)

// source is a module's address in its normal form. One of its kinds is set.
type source struct {
	// local is a path relative to the calling module.
	local string
	// registry is a module of a registry.
	registry *tfaddr.Module
	// remote is the address of a package, subdir the module's folder inside it.
	remote, subdir string
}

// errSource says what is wrong with an address that cannot be understood.
var errSource = errors.New("it is neither a path beginning with ./ or ../, nor the address of a registry's module, nor one of Git, HTTP, S3 or a folder by its full path")

// parseSource reads a module's source address. With a version it must be a registry's.
func parseSource(text string, versioned bool) (source, error) {
	if !versioned && (strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../") || text == "." || text == "..") {
		clean := path.Clean(filepath.ToSlash(text))
		if !strings.HasPrefix(clean, "../") {
			clean = "./" + strings.TrimPrefix(clean, "./")
		}
		return source{local: clean}, nil
	}
	module, err := tfaddr.ParseModuleSource(text)
	if err == nil {
		return source{registry: &module}, nil
	}
	if versioned {
		return source{}, fmt.Errorf("it has a version, so it must be the address of a registry's module: %w", err)
	}
	return parseRemote(text)
}

// detectors understand the short forms of addresses.
var detectors = []getter.Detector{
	new(getter.GitHubDetector), new(getter.GitDetector), new(getter.GitLabDetector), new(bitbucketDetector),
	new(getter.GCSDetector), new(getter.S3Detector), new(folderDetector),
}

func parseRemote(text string) (source, error) {
	pkg, subdir := getter.SourceDirSubdir(text)
	detected, err := getter.Detect(pkg, "", detectors)
	if err != nil {
		return source{}, errSource
	}
	if _, inner := getter.SourceDirSubdir(detected); inner != "" {
		detected, inner = getter.SourceDirSubdir(detected)
		subdir = path.Join(inner, subdir)
	}
	if subdir != "" {
		subdir = path.Clean(subdir)
		if !filepath.IsLocal(subdir) {
			return source{}, errors.New("its folder inside of the package leads out of it")
		}
	}
	return source{remote: detected, subdir: subdir}, nil
}

// bitbucketDetector understands bitbucket.org/OWNER/REPOSITORY. The library's own
// asks the site which kind of repository it is; there are no others than Git any more.
type bitbucketDetector struct{}

// Detect implements getter.Detector.
func (*bitbucketDetector) Detect(src, _ string) (string, bool, error) {
	rest, ok := strings.CutPrefix(src, "bitbucket.org/")
	if !ok {
		return "", false, nil
	}
	path, query, _ := strings.Cut(rest, "?")
	parts := strings.Split(path, "/")
	if len(parts) != 2 || parts[0] == "" || parts[1] == "" {
		return "", false, errSource
	}
	url := "git::https://bitbucket.org/" + parts[0] + "/" + strings.TrimSuffix(parts[1], ".git") + ".git"
	if query != "" {
		url += "?" + query
	}
	return url, true, nil
}

// folderDetector understands full paths of folders.
type folderDetector struct{}

// Detect implements getter.Detector.
func (*folderDetector) Detect(src, _ string) (string, bool, error) {
	if !filepath.IsAbs(src) {
		return "", false, errSource
	}
	return "file://" + filepath.ToSlash(src), true, nil
}

// String returns the address as the list of installed modules has it.
func (s source) String() string {
	switch {
	case s.local != "":
		return s.local
	case s.registry != nil:
		return s.registry.String()
	case s.subdir == "":
		return s.remote
	}
	pkg, query, hasQuery := strings.Cut(s.remote, "?")
	if hasQuery {
		query = "?" + query
	}
	return pkg + "//" + s.subdir + query
}

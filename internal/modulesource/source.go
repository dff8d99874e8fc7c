package modulesource

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/hashicorp/go-getter"
	tfaddr "github.com/hashicorp/terraform-registry-address"
)

// Source is a module's address in its normal form. One of its kinds is set.
type Source struct {
	// Local is a path relative to the calling module.
	Local string
	// Registry is a module of a registry.
	Registry *tfaddr.Module
	// Remote is the address of a package, Subdir the module's folder inside it.
	Remote, Subdir string
}

// errSource says what is wrong with an address that cannot be understood.
var errSource = errors.New("it is neither a path beginning with ./ or ../, nor the address of a registry's module, nor one of Git, HTTP, S3 or a folder by its full path")

// Parse reads a module's source address. With a version it must be a registry's.
func Parse(text string, versioned bool) (Source, error) {
	if !versioned && (strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../") || text == "." || text == "..") {
		clean := path.Clean(filepath.ToSlash(text))
		if !strings.HasPrefix(clean, "../") {
			clean = "./" + strings.TrimPrefix(clean, "./")
		}
		return Source{Local: clean}, nil
	}
	module, err := tfaddr.ParseModuleSource(text)
	if err == nil {
		return Source{Registry: &module}, nil
	}
	if versioned {
		return Source{}, fmt.Errorf("it has a version, so it must be the address of a registry's module: %w", err)
	}
	return ParseRemote(text)
}

// detectors understand the short forms of addresses.
var detectors = []getter.Detector{
	new(getter.GitHubDetector), new(getter.GitDetector), new(getter.GitLabDetector), new(bitbucketDetector),
	new(getter.GCSDetector), new(getter.S3Detector), new(folderDetector),
}

// ParseRemote reads the address of a package that is neither local nor a registry's.
func ParseRemote(text string) (Source, error) {
	pkg, subdir := getter.SourceDirSubdir(text)
	detected, err := getter.Detect(pkg, "", detectors)
	if err != nil {
		return Source{}, errSource
	}
	if _, inner := getter.SourceDirSubdir(detected); inner != "" {
		detected, inner = getter.SourceDirSubdir(detected)
		subdir = path.Join(inner, subdir)
	}
	if subdir != "" {
		subdir = path.Clean(subdir)
		if !filepath.IsLocal(subdir) {
			return Source{}, errors.New("its folder inside of the package leads out of it")
		}
	}
	return Source{Remote: detected, Subdir: subdir}, nil
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
func (s Source) String() string {
	switch {
	case s.Local != "":
		return s.Local
	case s.Registry != nil:
		return s.Registry.String()
	case s.Subdir == "":
		return s.Remote
	}
	pkg, query, hasQuery := strings.Cut(s.Remote, "?")
	if hasQuery {
		query = "?" + query
	}
	return pkg + "//" + s.Subdir + query
}

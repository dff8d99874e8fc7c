package install

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/towline/terraform-provider-towline/internal/plugin/version"
	"github.com/towline/terraform-provider-towline/internal/registry"
)

// Bounds of a download. The largest packages known have 150 MiB.
const (
	maxPackage      = 2 << 30
	downloadTimeout = 30 * time.Minute
)

// here is the platform that packages must be for.
var here = registry.Platform{OS: runtime.GOOS, Arch: runtime.GOARCH}

// download fetches an archive into a file of its own and returns its SHA-256.
func download(ctx context.Context, client *registry.Client, url string) (location, string, error) {
	ctx, cancel := context.WithTimeout(ctx, downloadTimeout)
	defer cancel()
	file, err := os.CreateTemp("", "towline-provider-*.zip")
	if err != nil {
		return location{}, "", fmt.Errorf("cannot make room for the provider package: %w", err)
	}
	digest, err := client.Download(ctx, url, io.Writer(file), maxPackage)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	found := location{path: file.Name(), packed: true, temporary: true}
	if err != nil {
		found.discard()
		return location{}, "", fmt.Errorf("cannot download the provider package: %w", err)
	}
	return found, digest, nil
}

// parseVersions keeps the texts that are version numbers.
func parseVersions(texts []string) []version.Version {
	var out []version.Version
	for _, text := range texts {
		if v, err := version.Parse(text); err == nil {
			out = append(out, v)
		}
	}
	return out
}

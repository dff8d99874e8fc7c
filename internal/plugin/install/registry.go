package install

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/plugin/version"
	"github.com/towline/terraform-provider-towline/internal/registry"
)

// direct is the registry of each provider's own host.
type direct struct{ client *registry.Client }

func (direct) String() string { return "direct installation from a registry" }

func (d direct) versions(ctx context.Context, addr addrs.Provider) ([]version.Version, error) {
	found, err := d.client.ProviderVersions(ctx, addr)
	if errors.Is(err, registry.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var texts []string
	for _, v := range found {
		if slices.Contains(v.Platforms, here) && slices.ContainsFunc(v.Protocols, supported) {
			texts = append(texts, v.Version)
		}
	}
	return parseVersions(texts), nil
}

// supported tells whether a version of the plugin protocol is spoken here.
func supported(protocol string) bool {
	major, _, _ := strings.Cut(protocol, ".")
	return major == "5" || major == "6"
}

func (d direct) fetch(ctx context.Context, addr addrs.Provider, v version.Version, on registry.Platform) (location, error) {
	pkg, err := d.client.ProviderPackage(ctx, addr, v.String(), on)
	if err != nil {
		return location{}, err
	}
	sums, err := d.signedSums(ctx, pkg)
	if err != nil {
		return location{}, err
	}
	if sums[pkg.Filename] != pkg.SHA256 {
		return location{}, fmt.Errorf("the registry's checksum of %s is not the signed one", pkg.Filename)
	}
	found, digest, err := download(ctx, d.client, pkg.URL)
	if err != nil {
		return location{}, err
	}
	if digest != pkg.SHA256 {
		found.discard()
		return location{}, fmt.Errorf("the package %s does not match its signed checksum; somebody may have changed it", pkg.Filename)
	}
	for _, sum := range sums {
		found.hashes = append(found.hashes, "zh:"+sum)
	}
	return found, nil
}

// signedSums reads the checksums of all platforms and verifies who signed them.
func (d direct) signedSums(ctx context.Context, pkg registry.Package) (map[string]string, error) {
	document, err := d.client.Document(ctx, pkg.SumsURL)
	if err != nil {
		return nil, fmt.Errorf("cannot read the checksums of the package: %w", err)
	}
	signature, err := d.client.Document(ctx, pkg.SignatureURL)
	if err != nil {
		return nil, fmt.Errorf("cannot read the signature of the package: %w", err)
	}
	if err := checkSignature(document, signature, pkg.Keys); err != nil {
		return nil, err
	}
	return parseSums(document)
}

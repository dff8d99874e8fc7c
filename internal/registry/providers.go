package registry

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/url"

	"github.com/towline/terraform-provider-towline/internal/addrs"
)

const providersService = "providers.v1"

// ProviderVersion is a version that a registry has of a provider.
type ProviderVersion struct {
	Version string
	// Protocols are the versions of the plugin protocol that it speaks, such as "5.0".
	Protocols []string
	Platforms []Platform
}

// Platform is what a package runs on.
type Platform struct{ OS, Arch string }

// String returns the platform as file names have it.
func (p Platform) String() string { return p.OS + "_" + p.Arch }

// Package says where a provider's package for one platform is, and where to check it.
type Package struct {
	Filename     string
	URL          string
	SHA256       string // in hex
	SumsURL      string
	SignatureURL string
	// Keys are armoured OpenPGP public keys, of which one signed the sums.
	Keys []SigningKey
}

// SigningKey is a key that a registry vouches for.
type SigningKey struct {
	KeyID string
	Armor string
}

func providerPath(addr addrs.Provider) string {
	return url.PathEscape(addr.Namespace) + "/" + url.PathEscape(addr.Type)
}

// ProviderVersions lists the versions that a registry has of a provider, in no order.
func (c *Client) ProviderVersions(ctx context.Context, addr addrs.Provider) ([]ProviderVersion, error) {
	out, err := c.ask(ctx, addr.Hostname, providersService, providerPath(addr)+"/versions")
	if err != nil {
		return nil, err
	}
	var list struct{ Versions []ProviderVersion }
	if err := out.decode(&list); err != nil {
		return nil, err
	}
	return list.Versions, nil
}

// ProviderPackage finds the package of one version for one platform.
func (c *Client) ProviderPackage(ctx context.Context, addr addrs.Provider, version string, platform Platform) (Package, error) {
	out, err := c.ask(ctx, addr.Hostname, providersService,
		providerPath(addr)+"/"+url.PathEscape(version)+"/download/"+url.PathEscape(platform.OS)+"/"+url.PathEscape(platform.Arch))
	if err != nil {
		return Package{}, err
	}
	var found struct {
		Filename     string
		URL          string `json:"download_url"`
		SHA256       string `json:"shasum"`
		SumsURL      string `json:"shasums_url"`
		SignatureURL string `json:"shasums_signature_url"`
		Keys         struct {
			GPG []struct {
				KeyID string `json:"key_id"`
				Armor string `json:"ascii_armor"`
			} `json:"gpg_public_keys"`
		} `json:"signing_keys"`
	}
	if err := out.decode(&found); err != nil {
		return Package{}, err
	}
	if sum, err := hex.DecodeString(found.SHA256); err != nil || len(sum) != 32 {
		return Package{}, fmt.Errorf("%s gives a checksum that is none", out.url.Host)
	}
	p := Package{Filename: found.Filename, SHA256: found.SHA256}
	for _, key := range found.Keys.GPG {
		p.Keys = append(p.Keys, SigningKey{key.KeyID, key.Armor})
	}
	for into, from := range map[*string]string{&p.URL: found.URL, &p.SumsURL: found.SumsURL, &p.SignatureURL: found.SignatureURL} {
		ref, err := url.Parse(from)
		if err != nil || from == "" {
			return Package{}, fmt.Errorf("%s gives an address that is none", out.url.Host)
		}
		*into = out.url.ResolveReference(ref).String()
	}
	return p, nil
}

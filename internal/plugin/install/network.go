package install

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/bounds"
	"github.com/towline/terraform-provider-towline/internal/plugin/version"
	"github.com/towline/terraform-provider-towline/internal/registry"
)

// networkMirror is a mirror that answers over HTTPS.
type networkMirror struct {
	client *registry.Client
	base   string
}

func (n networkMirror) String() string { return "the network mirror " + n.base }

// document reads one of the mirror's documents about a provider; nil if there is none.
func (n networkMirror) document(ctx context.Context, addr addrs.Provider, name string, into any) (*url.URL, error) {
	base, err := url.Parse(strings.TrimSuffix(n.base, "/") + "/")
	if err != nil || base.Scheme != "https" {
		return nil, fmt.Errorf("%s must be an https URL", n)
	}
	at := base.JoinPath(addr.Hostname.ForDisplay(), addr.Namespace, addr.Type, name)
	data, err := n.client.Trusted(ctx, at)
	if errors.Is(err, registry.ErrNotFound) {
		return nil, nil
	}
	if err == nil {
		err = bounds.JSON(data)
	}
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", n, err)
	}
	return at, nil
}

func (n networkMirror) versions(ctx context.Context, addr addrs.Provider) ([]version.Version, error) {
	var index struct{ Versions map[string]json.RawMessage }
	if _, err := n.document(ctx, addr, "index.json", &index); err != nil {
		return nil, err
	}
	return parseVersions(slices.Collect(maps.Keys(index.Versions))), nil
}

func (n networkMirror) fetch(ctx context.Context, addr addrs.Provider, v version.Version, on registry.Platform) (location, error) {
	var release struct {
		Archives map[string]struct {
			URL    string
			Hashes []string
		}
	}
	at, err := n.document(ctx, addr, v.String()+".json", &release)
	if err != nil {
		return location{}, err
	}
	archive, ok := release.Archives[on.String()]
	if at == nil || !ok {
		return location{}, fmt.Errorf("%s has no version %s for %s", n, v, on)
	}
	ref, err := url.Parse(archive.URL)
	if err != nil {
		return location{}, fmt.Errorf("%s gives an address that is none: %w", n, err)
	}
	found, digest, err := download(ctx, n.client, at.ResolveReference(ref).String())
	if err != nil {
		return location{}, err
	}
	if err := promised(found, digest, archive.Hashes); err != nil {
		found.discard()
		return location{}, err
	}
	return found, nil
}

// promised tells whether a package is one of those that a mirror promised.
func promised(found location, digest string, hashes []string) error {
	if len(hashes) == 0 {
		return nil
	}
	if raw, err := hex.DecodeString(digest); err == nil && slices.Contains(hashes, "zh:"+hex.EncodeToString(raw)) {
		return nil
	}
	hash, err := hashPacked(found.path)
	if err != nil {
		return err
	}
	if !slices.Contains(hashes, hash) {
		return errors.New("the package matches none of the checksums that the mirror gives for it")
	}
	return nil
}

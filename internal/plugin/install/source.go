package install

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/plugin/cliconfig"
	"github.com/towline/terraform-provider-towline/internal/plugin/version"
	"github.com/towline/terraform-provider-towline/internal/registry"
)

// platform is how packages name what they run on here.
var platform = here.String()

// source is a place that offers packages.
type source interface {
	// versions lists what the place offers for this platform.
	versions(ctx context.Context, addr addrs.Provider) ([]version.Version, error)
	// fetch returns a package for a platform as files of this machine.
	fetch(ctx context.Context, addr addrs.Provider, v version.Version, on registry.Platform) (location, error)
	fmt.Stringer
}

// location is a package on this machine: a folder or a zip archive.
type location struct {
	path   string
	packed bool
	// temporary tells that the archive was downloaded and goes after its installation.
	temporary bool
	// hashes are those of the same version's packages, for other platforms too, for
	// which somebody vouched with a signature.
	hashes []string
}

// discard removes an archive that was downloaded.
func (l location) discard() {
	if l.temporary {
		_ = os.Remove(l.path) // what is left over lies among temporary files
	}
}

// sourceFor returns the place that a method of the CLI configuration names.
func (s Settings) sourceFor(m cliconfig.Method, client *registry.Client) source {
	switch {
	case m.Kind == cliconfig.FilesystemMirror:
		return mirror(m.Location)
	case s.Offline:
		return unavailable(m)
	case m.Kind == cliconfig.NetworkMirror:
		return networkMirror{client, m.Location}
	}
	return direct{client}
}

// mirror is a folder with packages, packed or not:
//
//	HOST/NAMESPACE/TYPE/VERSION/OS_ARCH/...
//	HOST/NAMESPACE/TYPE/terraform-provider-TYPE_VERSION_OS_ARCH.zip
type mirror string

func (m mirror) String() string { return "the mirror " + string(m) }

// dir returns the part of a mirror that is about one provider.
func (m mirror) dir(addr addrs.Provider) string {
	return filepath.Join(string(m), addr.Hostname.ForDisplay(), addr.Namespace, addr.Type)
}

func (m mirror) versions(_ context.Context, addr addrs.Provider) ([]version.Version, error) {
	packages, err := m.packages(addr, here)
	if err != nil {
		return nil, err
	}
	var out []version.Version
	for v := range packages {
		out = append(out, v)
	}
	return out, nil
}

func (m mirror) fetch(_ context.Context, addr addrs.Provider, v version.Version, on registry.Platform) (location, error) {
	packages, err := m.packages(addr, on)
	if err != nil {
		return location{}, err
	}
	found, ok := packages[v]
	if !ok {
		return location{}, fmt.Errorf("%s has no version %s for %s", m, v, on)
	}
	return found, nil
}

// packages lists the packages for a platform. Where a version is there both
// packed and unpacked, the unpacked one counts.
func (m mirror) packages(addr addrs.Provider, on registry.Platform) (map[version.Version]location, error) {
	if _, err := os.Stat(string(m)); err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", m, err)
	}
	entries, err := os.ReadDir(m.dir(addr))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", m, err)
	}
	out := make(map[version.Version]location)
	for _, entry := range entries {
		path := filepath.Join(m.dir(addr), entry.Name())
		if v, ok := packedVersion(addr, entry.Name(), on); ok {
			if _, exists := out[v]; !exists {
				out[v] = location{path: path, packed: true}
			}
			continue
		}
		v, err := version.Parse(entry.Name())
		if err != nil {
			continue // something else may lie there
		}
		unpacked := filepath.Join(path, on.String())
		if info, err := os.Stat(unpacked); err == nil && info.IsDir() {
			out[v] = location{path: unpacked}
		}
	}
	return out, nil
}

// packedVersion reads the version out of an archive's name, if it is for this
// provider and platform.
func packedVersion(addr addrs.Provider, name string, on registry.Platform) (version.Version, bool) {
	rest, isProvider := strings.CutPrefix(strings.ToLower(name), "terraform-provider-"+addr.Type+"_")
	rest, isPlatform := strings.CutSuffix(rest, "_"+on.String()+".zip")
	if !isProvider || !isPlatform {
		return version.Version{}, false
	}
	v, err := version.Parse(rest)
	return v, err == nil
}

// unavailable is a place that must not be asked.
type unavailable cliconfig.Method

func (u unavailable) String() string {
	if u.Kind == cliconfig.Direct {
		return "direct installation from a registry"
	}
	return "the network mirror " + u.Location
}

var errUnavailable = errors.New("is not asked here; publish the package with the revision, or put it into a filesystem mirror, for instance by \"towline providers mirror\"")

func (u unavailable) versions(context.Context, addrs.Provider) ([]version.Version, error) {
	return nil, fmt.Errorf("%s %w", u, errUnavailable)
}

func (u unavailable) fetch(context.Context, addrs.Provider, version.Version, registry.Platform) (location, error) {
	return location{}, fmt.Errorf("%s %w", u, errUnavailable)
}

// place is a source with the providers that it is asked for.
type place struct {
	source
	handles func(addrs.Provider) bool
}

// places are the sources in order of preference.
type places []place

// offer is a version and the first place that has it.
type offer struct {
	version version.Version
	from    source
}

// offers lists the versions of a provider. A place that must not be asked
// matters only if no other one offers anything that is allowed; its error is
// then returned along with the offers.
func (p places) offers(ctx context.Context, addr addrs.Provider) ([]offer, error) {
	var out []offer
	var missing error
	for _, place := range p {
		if !place.handles(addr) {
			continue
		}
		found, err := place.versions(ctx, addr)
		switch {
		case errors.Is(err, errUnavailable):
			missing = errors.Join(missing, err)
			continue
		case err != nil:
			return nil, err
		}
		for _, v := range found {
			if !slices.ContainsFunc(out, func(o offer) bool { return o.version == v }) {
				out = append(out, offer{v, place.source})
			}
		}
	}
	return out, missing
}

// describe names the places that are asked for a provider.
func (p places) describe(addr addrs.Provider) string {
	var names []string
	for _, place := range p {
		if place.handles(addr) {
			names = append(names, place.String())
		}
	}
	if len(names) == 0 {
		return "no place, since the CLI configuration has none for it"
	}
	return strings.Join(names, ", ")
}

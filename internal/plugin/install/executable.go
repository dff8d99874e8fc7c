package install

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// ReattachVariable names the environment variable that lists providers which
// run already, such as under a debugger.
const ReattachVariable = "TF_REATTACH_PROVIDERS"

// Executable is how to get hold of a running provider.
type Executable struct {
	// Path is the provider's program.
	Path string
	// Version is "" if it is not known, as for development overrides.
	Version string
	// PackageHash is the verified h1 hash of the package that Path belongs to, ""
	// if it was not verified.
	PackageHash string
	// Reattach is set instead of Path if somebody else runs the provider.
	Reattach *Reattach
}

// Reattach is a provider process that somebody else runs.
type Reattach struct {
	ProtocolVersion int
	Pid             int
	Addr            net.Addr
}

// findProgram returns the provider's program in an unpacked package.
func findProgram(dir, typeName string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", fmt.Errorf("cannot read the provider package: %w", err)
	}
	prefix := "terraform-provider-" + typeName
	for _, entry := range entries {
		rest, ok := strings.CutPrefix(strings.ToLower(entry.Name()), prefix)
		if !ok || rest != "" && rest[0] != '_' && rest[0] != '.' {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	return "", fmt.Errorf("there is no program in %s whose name begins with %s", dir, prefix)
}

// parseReattach reads the value of [ReattachVariable].
func parseReattach(text string) (map[addrs.Provider]*Reattach, tfdiags.Diagnostics) {
	if text == "" {
		return nil, nil
	}
	var entries map[string]struct {
		Protocol             string
		ProtocolVersion, Pid int
		Addr                 struct{ Network, String string }
	}
	if err := json.Unmarshal([]byte(text), &entries); err != nil {
		return nil, invalidReattach(err)
	}
	out := make(map[addrs.Provider]*Reattach, len(entries))
	for source, entry := range entries {
		addr, err := addrs.ParseProviderSource(source)
		if err != nil {
			return nil, invalidReattach(fmt.Errorf("%q is not the address of a provider", source))
		}
		if entry.Protocol != "grpc" {
			return nil, invalidReattach(fmt.Errorf("%s is served by %q, and only grpc is supported", source, entry.Protocol))
		}
		listener, err := resolve(entry.Addr.Network, entry.Addr.String)
		if err != nil {
			return nil, invalidReattach(fmt.Errorf("%s: %w", source, err))
		}
		out[addr] = &Reattach{ProtocolVersion: entry.ProtocolVersion, Pid: entry.Pid, Addr: listener}
	}
	return out, nil
}

func resolve(network, address string) (net.Addr, error) {
	switch network {
	case "unix":
		return net.ResolveUnixAddr("unix", address)
	case "tcp":
		return net.ResolveTCPAddr("tcp", address)
	}
	return nil, fmt.Errorf("the kind of address %q is not supported", network)
}

func invalidReattach(err error) tfdiags.Diagnostics {
	return tfdiags.New(tfdiags.Error, "Invalid "+ReattachVariable,
		fmt.Sprintf("The variable %s cannot be used: %s. Copy it once more from what the provider printed, or unset it.", ReattachVariable, err))
}

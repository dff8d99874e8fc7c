package configs

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/apparentlymart/go-versions/versions"

	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// installedModule is an entry of .terraform/modules/modules.json, which init leaves
// for modules that are not local.
type installedModule struct {
	Key, Source, Version string
	// Dir is below the root module's directory.
	Dir string
}

// readManifest lists the modules that init installed. A missing or broken list counts
// as empty: then the call that needs it is reported.
func readManifest(root string) map[string]installedModule {
	data, err := readFile(filepath.Join(root, ".terraform", "modules", "modules.json"))
	if err != nil {
		return nil
	}
	var manifest struct{ Modules []installedModule }
	if json.Unmarshal(data, &manifest) != nil {
		return nil
	}
	out := map[string]installedModule{}
	for _, m := range manifest.Modules {
		if filepath.IsLocal(m.Dir) {
			out[m.Key] = m
		}
	}
	return out
}

// check tells whether an installed module of a registry is the one that is called.
// Other addresses have many forms, which only the installation tells apart.
func (m installedModule) check(call *ModuleCall) tfdiags.Diagnostics {
	if addr := call.Address.Registry; addr != nil && addr.String() != m.Source {
		return tfdiags.At(call.SourceRange, "Module source has changed",
			fmt.Sprintf("Module %q was installed from %s, and its source is %s now. Run \"towline init\" to install it anew.", call.Name, m.Source, call.Source))
	}
	if call.Version == "" {
		return nil
	}
	if version, err := versions.ParseVersion(m.Version); err != nil || !call.Allowed.Has(version) {
		return tfdiags.At(call.SourceRange, "Module version requirements have changed",
			fmt.Sprintf("Module %q is installed in version %q, which does not meet the constraint %q. Run \"towline init\" to install another version.", call.Name, m.Version, call.Version))
	}
	return nil
}

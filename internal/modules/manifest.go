package modules

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/backend"
	"github.com/towline/terraform-provider-towline/internal/bounds"
)

// maxManifest bounds the list of installed modules.
const maxManifest = 64 << 20

// Record is one installed module, in the form of terraform's list.
type Record struct {
	// Key is the module's path, joined by dots.
	Key string
	// Source is the address it was installed from, in its normal form.
	Source string
	// Version is set for modules of registries.
	Version string `json:",omitempty"`
	// Dir is its folder, relative to the root module's.
	Dir string
}

func manifestPath(dataDir string) string { return filepath.Join(dataDir, "modules", "modules.json") }

// ReadManifest lists the modules that are installed, by key.
func ReadManifest(dataDir string) (map[string]Record, error) {
	data, err := bounds.ReadFile(manifestPath(dataDir), maxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]Record{}, nil
	}
	var list struct{ Modules []Record }
	if err == nil {
		err = json.Unmarshal(data, &list)
	}
	if err != nil {
		return nil, fmt.Errorf("read the list of installed modules: %w", err)
	}
	out := make(map[string]Record, len(list.Modules))
	for _, r := range list.Modules {
		out[r.Key] = r
	}
	return out, nil
}

func writeManifest(dataDir string, records map[string]Record) error {
	list := struct{ Modules []Record }{}
	for _, r := range records {
		list.Modules = append(list.Modules, r)
	}
	slices.SortFunc(list.Modules, func(a, b Record) int { return strings.Compare(a.Key, b.Key) })
	data, err := json.Marshal(list)
	if err != nil {
		return fmt.Errorf("write the list of installed modules: %w", err)
	}
	return backend.WriteFile(manifestPath(dataDir), data)
}

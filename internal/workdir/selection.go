package workdir

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/backend"
	"github.com/towline/terraform-provider-towline/internal/bounds"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// maxSelection bounds the small files of the data folder.
const maxSelection = 1 << 20

// Dir is a working directory with its data folder.
type Dir struct {
	Path string
	// Data is where init keeps what it installs and chooses.
	Data string
}

// At returns the working directory at path; getenv is [os.Getenv] outside of tests.
func At(path string, getenv func(string) string) Dir {
	data := cmp.Or(getenv("TF_DATA_DIR"), ".terraform")
	if !filepath.IsAbs(data) {
		data = filepath.Join(path, data)
	}
	return Dir{Path: path, Data: data}
}

// selection is the file that records which backend init chose.
type selection struct {
	Version          int              `json:"version"`
	TerraformVersion string           `json:"terraform_version,omitempty"`
	Backend          *selectedBackend `json:"backend,omitempty"`
}

type selectedBackend struct {
	Type   string          `json:"type"`
	Config json.RawMessage `json:"config"`
	Hash   uint64          `json:"hash"`
}

func (d Dir) selectionPath() string { return filepath.Join(d.Data, "terraform.tfstate") }

// Selected returns the backend that init chose, or nil if it chose none.
func (d Dir) Selected() (*backend.Settings, tfdiags.Diagnostics) {
	data, err := bounds.ReadFile(d.selectionPath(), maxSelection)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var found selection
	if err == nil {
		err = json.Unmarshal(data, &found)
	}
	if err != nil {
		return nil, tfdiags.FromError("Backend settings not readable", fmt.Errorf("read %s: %w; run \"towline init -reconfigure\"", d.selectionPath(), err))
	}
	if found.Backend == nil || found.Backend.Type == "" {
		return nil, nil
	}
	settings, diags := backend.UnmarshalSettings(found.Backend.Type, found.Backend.Config, found.Backend.Hash)
	return &settings, diags
}

// Select records the backend that init chose; nil forgets it.
func (d Dir) Select(settings *backend.Settings) error {
	if settings == nil {
		if err := os.Remove(d.selectionPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("forget backend: %w", err)
		}
		return nil
	}
	config, err := settings.MarshalConfig()
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(selection{
		Version: 3, TerraformVersion: states.TerraformVersion,
		Backend: &selectedBackend{Type: settings.Type, Config: config, Hash: settings.Hash},
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("record backend: %w", err)
	}
	return backend.WriteFile(d.selectionPath(), data)
}

// Settings are those of the backend to work with: the one that init chose, if the
// configuration still says the same.
func (d Dir) Settings(block *configs.Backend) (backend.Settings, tfdiags.Diagnostics) {
	selected, diags := d.Selected()
	if diags.HasErrors() {
		return backend.Settings{}, diags
	}
	if block == nil {
		if selected != nil {
			return backend.Settings{}, notInitialised("The backend block that init saw is gone from the configuration.")
		}
		return backend.Default(), nil
	}
	declared, diags := backend.Decode(block.Type, block.Config)
	switch {
	case selected == nil && !declared.Decoded():
		return backend.Settings{}, diags
	case selected == nil:
		return backend.Settings{}, notInitialised(fmt.Sprintf("The configuration asks for the backend %q, which was not initialised yet.", block.Type))
	case selected.Type == block.Type && (selected.Hash == declared.Hash || !diags.HasErrors() && selected.Equal(declared)):
		return *selected, nil
	}
	return backend.Settings{}, notInitialised("The backend block has changed since.")
}

func notInitialised(why string) tfdiags.Diagnostics {
	return tfdiags.New(tfdiags.Error, `Backend initialization required, please run "towline init"`,
		why+" Nothing was read or written. Run \"towline init\", which asks what to do about states that exist, or decide with -migrate-state or -reconfigure.")
}

func (d Dir) workspacePath() string { return filepath.Join(d.Data, "environment") }

// Workspace is the selected workspace. TF_WORKSPACE overrides what was selected.
func (d Dir) Workspace(getenv func(string) string) (name string, overridden bool, err error) {
	if name := getenv("TF_WORKSPACE"); name != "" {
		return name, true, nil
	}
	data, err := bounds.ReadFile(d.workspacePath(), maxSelection)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", false, fmt.Errorf("read selected workspace: %w", err)
	}
	return cmp.Or(strings.TrimSpace(string(data)), backend.DefaultWorkspace), false, nil
}

// SelectWorkspace records the selected workspace.
func (d Dir) SelectWorkspace(name string) error {
	return backend.WriteFile(d.workspacePath(), []byte(name))
}

// Journal is the file for changes under way to a state. It lies beside a state
// file, and otherwise in the data folder.
func (d Dir) Journal(store backend.Store, workspace string) string {
	if file, ok := store.(*backend.FileStore); ok {
		return file.Path() + ".journal"
	}
	return filepath.Join(d.Data, "towline-"+workspace+".journal")
}

// Backup is where the state before is kept, "" if the backend is no file.
func Backup(store backend.Store) string {
	if file, ok := store.(*backend.FileStore); ok {
		return file.Path() + ".backup"
	}
	return ""
}

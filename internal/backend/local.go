package backend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/zclconf/go-cty/cty"
)

var localSchema = schema{attributes: map[string]cty.Type{"path": cty.String, "workspace_dir": cty.String}}

// Names that the local backend gives to files unless told otherwise.
const (
	stateName      = "terraform.tfstate"
	workspacesName = "terraform.tfstate.d"
)

// local keeps states in files: the default workspace's at path, the others' below workspaces.
type local struct{ path, workspaces string }

func openLocal(dir string, settings Settings) *local {
	resolve := func(path string) string {
		if filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(dir, path)
	}
	return &local{
		path:       resolve(cmp.Or(settings.text("path"), stateName)),
		workspaces: resolve(cmp.Or(settings.text("workspace_dir"), workspacesName)),
	}
}

// Workspaces implements Backend.
func (l *local) Workspaces(context.Context) ([]string, error) {
	entries, err := os.ReadDir(l.workspaces)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list workspaces: %w", err)
	}
	names := []string{}
	for _, entry := range entries {
		if entry.IsDir() && ValidWorkspace(entry.Name()) {
			names = append(names, entry.Name())
		}
	}
	slices.Sort(names)
	return slices.Insert(names, 0, DefaultWorkspace), nil
}

// Store implements Backend.
func (l *local) Store(workspace string) Store {
	if workspace == DefaultWorkspace {
		return File(l.path)
	}
	return File(filepath.Join(l.workspaces, workspace, stateName))
}

// Create makes a workspace known without a state, as terraform does.
func (l *local) Create(_ context.Context, workspace string) error {
	if err := os.MkdirAll(filepath.Join(l.workspaces, workspace), 0o755); err != nil {
		return fmt.Errorf("create workspace: %w", err)
	}
	return nil
}

// Delete implements Backend.
func (l *local) Delete(_ context.Context, workspace string) error {
	if workspace == DefaultWorkspace {
		return errors.New("the default workspace cannot be deleted")
	}
	if err := os.RemoveAll(filepath.Join(l.workspaces, workspace)); err != nil {
		return fmt.Errorf("delete workspace: %w", err)
	}
	return nil
}

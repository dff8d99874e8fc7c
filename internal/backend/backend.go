package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/user"
	"path"
	"time"

	"github.com/google/uuid"

	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// DefaultWorkspace is the workspace that always exists.
const DefaultWorkspace = "default"

// maxState bounds a state that is read. The largest known have 150 MiB.
const maxState = 1 << 30

// Backend finds the states of workspaces.
type Backend interface {
	// Workspaces lists the workspaces, the default one first and the others by name.
	Workspaces(ctx context.Context) ([]string, error)
	// Store returns the place of a workspace's state. It asks nobody.
	Store(workspace string) Store
	// Delete removes a workspace with its state.
	Delete(ctx context.Context, workspace string) error
}

// Store is the place of one state.
type Store interface {
	// Lock excludes others until Unlock. It does not wait: a [LockError] says who is there already.
	Lock(ctx context.Context, info LockInfo) error
	// Unlock gives up the lock with this id, whoever took it.
	Unlock(ctx context.Context, id string) error
	// Read returns the state file, or nil if there is none.
	Read(ctx context.Context) ([]byte, error)
	// Write replaces the state file, wholly or not at all.
	Write(ctx context.Context, data []byte) error
	// String names the place for people.
	String() string
}

// ErrNotShared says that only the process that took a lock can give it up.
var ErrNotShared = errors.New("the lock goes with the process that holds it")

// LockInfo says who holds a lock, in the form that terraform writes.
type LockInfo struct {
	ID        string
	Operation string
	Info      string
	Who       string
	Version   string
	Created   time.Time
	Path      string
}

// NewLockInfo describes a lock that this process is about to take.
func NewLockInfo(operation, version string) LockInfo {
	who := "unknown"
	if u, err := user.Current(); err == nil {
		who = u.Username
	}
	if host, err := os.Hostname(); err == nil {
		who += "@" + host
	}
	return LockInfo{ID: uuid.NewString(), Operation: operation, Who: who, Version: version, Created: time.Now().UTC()}
}

// LockError says that a lock is taken.
type LockError struct {
	// Holder is nil if nothing is known of who it is.
	Holder *LockInfo
	Reason error
}

// Error implements error.
func (e *LockError) Error() string {
	text := e.Reason.Error()
	if h := e.Holder; h != nil {
		text += fmt.Sprintf("; it is held by %s for %s since %s (lock ID %s, Terraform %s, path %s)",
			h.Who, h.Operation, h.Created.Format(time.RFC3339), h.ID, h.Version, h.Path)
	}
	return text
}

// Unwrap returns the reason.
func (e *LockError) Unwrap() error { return e.Reason }

// parseLockInfo reads what a holder wrote, or returns nil.
func parseLockInfo(data []byte) *LockInfo {
	var info LockInfo
	if json.Unmarshal(data, &info) != nil {
		return nil
	}
	return &info
}

// ValidWorkspace tells whether a name can be one of a workspace.
func ValidWorkspace(name string) bool {
	return name != "" && name == url.PathEscape(name) && name == path.Base(name) && name != "." && name != ".."
}

// Open opens the backend of decoded settings. Paths are relative to dir.
func Open(ctx context.Context, dir string, settings Settings) (Backend, tfdiags.Diagnostics) {
	switch settings.Type {
	case "local":
		return openLocal(dir, settings), nil
	case "s3":
		return openS3(ctx, settings)
	}
	return nil, unsupported(settings.Type)
}

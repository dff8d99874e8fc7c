package repository

import (
	"context"
	"fmt"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
)

// Destroy removes the repository. Unless forced it refuses while the store holds
// revisions, states or receipts, with [ErrInUse]; forced, it removes those too.
// Objects that are not Towline's stay.
func Destroy(ctx context.Context, store objstore.Store, force bool) error {
	keys, used, err := ownKeys(ctx, store)
	if err != nil {
		return fmt.Errorf("destroy repository: %w", err)
	}
	if used != "" && !force {
		return fmt.Errorf("destroy repository: %w, such as %s", ErrInUse, used)
	}
	// Without its timestamp it is no repository any more, so that nobody reads one
	// that is half gone.
	for _, key := range append([]string{control.MetadataKey(timestampFile)}, keys...) {
		if err := store.Delete(ctx, key); err != nil {
			return fmt.Errorf("destroy repository: %w", err)
		}
	}
	return nil
}

// ownKeys lists the keys of the repository and its agents, and names one that
// holds what cannot be declared again.
func ownKeys(ctx context.Context, store objstore.Store) (keys []string, used string, err error) {
	for _, prefix := range []string{control.MetadataPrefix, control.TargetsPrefix, control.PackagesPrefix, "environments/"} {
		for info, err := range store.List(ctx, prefix) {
			if err != nil {
				return nil, "", err
			}
			keys = append(keys, info.Key)
			if used == "" && precious(info.Key) {
				used = info.Key
			}
		}
	}
	return keys, used, nil
}

func precious(key string) bool {
	if strings.HasPrefix(key, control.TargetsPrefix+"channels/") {
		return true
	}
	parts := strings.Split(key, "/")
	if parts[0] != "environments" {
		return false
	}
	return len(parts) >= 4 && parts[2] == "state" || len(parts) >= 6 && parts[2] == "agents" && parts[4] == "receipts"
}

package repository

import (
	"context"
	"errors"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/objstore/mem"
	"github.com/towline/terraform-provider-towline/internal/objstore/probe"
)

// unconditional is a store that ignores the condition of creations.
type unconditional struct{ objstore.Store }

func (s unconditional) PutIfAbsent(ctx context.Context, key string, data []byte) (objstore.Version, error) {
	return s.Put(ctx, key, data)
}

// TestInitInStoreThatIgnoresConditions: no repository is made where publishers would
// overwrite each other.
func TestInitInStoreThatIgnoresConditions(t *testing.T) {
	t.Parallel()
	store := unconditional{mem.New(t.Name())}
	if _, err := Init(t.Context(), store, simpleConfig(t), signing(t, noon, "owner")); !errors.Is(err, probe.ErrIgnoresConditions) {
		t.Errorf("Init: %v; want %v", err, probe.ErrIgnoresConditions)
	}
	if _, err := store.Stat(t.Context(), "tuf/timestamp.json"); !errors.Is(err, objstore.ErrNotExist) {
		t.Errorf("the timestamp is there, %v: somebody may publish", err)
	}
}

package repository

import (
	"fmt"
	"sync"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest/versitygw"
	"github.com/towline/terraform-provider-towline/internal/objstore/s3"
)

// onS3 starts a real S3 server and returns what opens a store with a prefix there. It
// sets the environment of the process.
func onS3(t *testing.T) func(prefix string) objstore.Store {
	t.Helper()
	server, err := versitygw.Start(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	if err := server.CreateBucket("control"); err != nil {
		t.Fatal(err)
	}
	for name, value := range server.Env() {
		t.Setenv(name, value)
	}
	return func(prefix string) objstore.Store {
		t.Helper()
		store, err := s3.Open(t.Context(), server.StoreURL("control", prefix))
		if err != nil {
			t.Fatal(err)
		}
		return store
	}
}

// TestOnS3 has publishers race and an agent read on a real S3 server. It sets the
// process's environment and so is not parallel.
//
//nolint:paralleltest // see above
func TestOnS3(t *testing.T) {
	onServer := onS3(t)
	open := func() objstore.Store { return onServer("fleet") }
	root := initialise(t, open()).Root()
	const publishers, rounds = 3, 3
	var group sync.WaitGroup
	for p := range publishers {
		r := newRepository(open(), root)
		group.Go(func() {
			for i := range rounds {
				if _, _, err := r.Publish(t.Context(), signing(t, noon, "owner"), "stable", fmt.Appendf(nil, "%d-%d", p, i), Note{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	state, err := newClient(t, open(), root).Update(t.Context(), noon, "prod", "stable")
	if err != nil || state.Revision.Sequence != publishers*rounds {
		t.Errorf("Update = %+v, %v; want revision %d", state, err, publishers*rounds)
	}
	if err := Destroy(t.Context(), open(), true); err != nil {
		t.Errorf("Destroy: %v", err)
	}
	if keys := allKeys(t, open()); len(keys) != 0 {
		t.Errorf("left: %q", keys)
	}
}

package provider_test

import (
	"errors"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest/azurite"
	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest/fakegcs"
)

func TestRepositoryInGoogleCloudStorage(t *testing.T) {
	t.Parallel()
	server, err := fakegcs.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	if err := server.CreateBucket(t.Context(), bucket); err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	b.url = server.StoreURL(bucket, "main")
	testStack(t, b)
}

func TestRepositoryInAzureBlobStorage(t *testing.T) {
	t.Parallel()
	server, err := azurite.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	if err := errors.Join(server.Setenv(), server.CreateContainer(t.Context(), bucket)); err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	b.url = server.StoreURL(bucket, "main")
	testStack(t, b)
}

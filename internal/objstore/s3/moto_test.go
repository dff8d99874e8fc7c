package s3_test

import (
	"testing"

	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest"
	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest/moto"
)

// TestMoto runs the suite against a second server of S3's API, without its races: moto
// looks whether the object is there and then writes, and another may come in between.
// Package probe tells such a store from one for many writers.
func TestMoto(t *testing.T) {
	t.Parallel()
	second, err := moto.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(second.Stop)
	if err := second.CreateBucket(t.Context(), bucket); err != nil {
		t.Fatal(err)
	}
	objstoretest.Run(t, objstoretest.Target{
		Open: func(t *testing.T) objstore.Store {
			return openStore(t, second.StoreURL(bucket, objstoretest.Prefix(t)))
		},
		Sequential: true,
	})
}

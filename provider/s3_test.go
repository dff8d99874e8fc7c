package provider_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest/versitygw"
)

const bucket = "towline"

// One S3 server serves all tests: the credentials of a process are the same for all of them.
var (
	sharedS3   *versitygw.Server
	sharedDir  string
	errS3      error
	startS3    sync.Once
	s3Prefixes atomic.Int64
)

// onS3 moves the bench's store to a real S3 server.
func (b *bench) onS3() *bench {
	b.t.Helper()
	startS3.Do(func() { errS3 = startSharedS3() })
	if errS3 != nil {
		b.t.Fatal(errS3)
	}
	b.url = sharedS3.StoreURL(bucket, fmt.Sprintf("%s-%d", strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(b.t.Name())), s3Prefixes.Add(1)))
	return b
}

func startSharedS3() (err error) {
	if sharedDir, err = os.MkdirTemp("", "towline-s3-"); err != nil {
		return err
	}
	if sharedS3, err = versitygw.Start(context.Background(), sharedDir); err != nil {
		return err
	}
	for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": sharedS3.AccessKey, "AWS_SECRET_ACCESS_KEY": sharedS3.SecretKey} {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return sharedS3.CreateBucket(bucket)
}

func stopSharedS3() {
	if sharedS3 != nil {
		sharedS3.Stop()
	}
	if sharedDir != "" {
		os.RemoveAll(sharedDir)
	}
}

func TestRepositoryInS3(t *testing.T) {
	t.Parallel()
	testStack(t, newBench(t).onS3())
}

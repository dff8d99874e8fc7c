package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest/versitygw"
	"github.com/towline/terraform-provider-towline/internal/plugin/plugintest"
)

// Simcloud returns the stage with the simulated cloud, and options that suit it:
// rounds and the grace time are short, so that nobody waits.
func Simcloud() (Stage, Options) {
	return &simcloud{}, Options{Poll: 2 * time.Second, Grace: 6 * time.Second}
}

// SimcloudWith is [Simcloud] with further flags of the simulated cloud, such as
// -latency and -rate.
func SimcloudWith(flags ...string) (Stage, Options) {
	_, opts := Simcloud()
	return &simcloud{flags: flags}, opts
}

// AWS returns the stage with the AWS provider and a mock of AWS. Its rounds are
// longer: every one of them reads a dozen objects from a slow mock.
// The repository is in a real S3 server over dir, which the caller stops.
func AWS(ctx context.Context, dir string) (Stage, Options, error) {
	mirror := plugintest.FindMirror()
	if mirror == "" {
		return nil, Options{}, fmt.Errorf("no filesystem mirror holds hashicorp/aws %s; see CONTRIBUTING.md, and set %s to its folder", plugintest.AWSVersion, plugintest.MirrorVariable)
	}
	server, err := versitygw.Start(ctx, dir)
	if err != nil {
		return nil, Options{}, err
	}
	if err := server.Setenv(); err != nil { // for this process's own look into the store
		server.Stop()
		return nil, Options{}, fmt.Errorf("reach the S3 server: %w", err)
	}
	return &awsMock{}, Options{S3: server, Bucket: "towline", Mirror: mirror, Poll: 4 * time.Second, Grace: 15 * time.Second, Override: awsScope}, nil
}

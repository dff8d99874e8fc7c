package demo

import (
	"fmt"
	"time"

	"github.com/towline/terraform-provider-towline/internal/plugin/plugintest"
)

// Simcloud returns the stage with the simulated cloud, and options that suit it:
// rounds and the grace time are short, so that nobody waits.
func Simcloud() (Stage, Options) {
	return &simcloud{}, Options{Poll: 2 * time.Second, Grace: 6 * time.Second}
}

// AWS returns the stage with the AWS provider and a mock of AWS. Its rounds are
// longer: every one of them reads a dozen objects from a slow mock.
func AWS() (Stage, Options, error) {
	mirror := plugintest.FindMirror()
	if mirror == "" {
		return nil, Options{}, fmt.Errorf("no filesystem mirror holds hashicorp/aws %s; see CONTRIBUTING.md, and set %s to its folder", plugintest.AWSVersion, plugintest.MirrorVariable)
	}
	return &awsMock{}, Options{S3: true, Mirror: mirror, Poll: 4 * time.Second, Grace: 15 * time.Second}, nil
}

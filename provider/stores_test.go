package provider_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

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

// TestAgentWithMirrors: mirrors go into the agent's configuration and nowhere else, and
// come and go without a new enrolment.
func TestAgentWithMirrors(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	with := func(mirrors string) string {
		return b.with(repositoryConfig, scopeConfig, strings.Replace(agentConfig, "scopes ", mirrors+"\n  scopes ", 1))
	}
	rendered := func(want string) statecheck.StateCheck {
		return statecheck.ExpectKnownValue(agentAddr, tfjsonpath.New("bootstrap").AtMapKey("agent_config"), knownvalue.StringRegexp(regexp.MustCompile(want)))
	}
	first := statecheck.ExpectKnownValue(agentAddr, tfjsonpath.New("join_generation"), knownvalue.Int64Exact(1))
	b.apply(
		step(with(""), agentAddr, plancheck.ResourceActionCreate, rendered(`data_dir +=[^\n]*\n\njoin_token`), first),
		step(with(`mirrors = ["gs://mirror/main", "file:///srv/mirror"]`), agentAddr, plancheck.ResourceActionUpdate,
			rendered(`mirrors += \["gs://mirror/main", "file:///srv/mirror"\]`), first),
		step(with(""), agentAddr, plancheck.ResourceActionUpdate, rendered(`data_dir +=[^\n]*\n\njoin_token`), first),
	)
}

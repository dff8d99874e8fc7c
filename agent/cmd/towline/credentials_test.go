package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// TestCredentialsTellTheirEnd has the SDK take credentials from a program, as machines
// outside of AWS do, and tell when they end; and again once they are asked for anew. It
// sets the process's environment and so is not parallel.
//
//nolint:paralleltest // see above
func TestCredentialsTellTheirEnd(t *testing.T) {
	for _, name := range awsVariables {
		t.Setenv(name, "")
	}
	if none, err := awsCredentials(t.Context(), "file:///store"); err != nil || none != nil {
		t.Errorf("without AWS: %v, %v", none, err)
	}
	dir := t.TempDir()
	answer := filepath.Join(dir, "answer")
	give := func(end time.Time) {
		text := fmt.Sprintf(`{"Version": 1, "AccessKeyId": "a", "SecretAccessKey": "b", "SessionToken": "c", "Expiration": %q}`, end.Format(time.RFC3339))
		if err := os.WriteFile(answer, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "config")
	if err := os.WriteFile(file, []byte("[profile agent]\nregion = eu-central-1\ncredential_process = /bin/cat "+answer+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_CONFIG_FILE", file)
	t.Setenv("AWS_PROFILE", "agent")
	credentials, err := awsCredentials(t.Context(), "file:///store")
	if err != nil {
		t.Fatal(err)
	}
	first := time.Now().Add(10 * time.Minute).UTC().Truncate(time.Second)
	for _, want := range []time.Time{first, first.Add(time.Hour)} {
		give(want)
		got, err := credentials.Retrieve(t.Context())
		if err != nil || !got.CanExpire || !got.Expires.Equal(want) {
			t.Errorf("they end at %s, %v; want %s", got.Expires, err, want)
		}
		cache, ok := credentials.(*aws.CredentialsCache)
		if !ok {
			t.Fatalf("what the SDK gives is a %T, which cannot be renewed early", credentials)
		}
		cache.Invalidate()
	}
}

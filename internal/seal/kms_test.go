package seal_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest/moto"
	"github.com/towline/terraform-provider-towline/internal/seal"
)

// startKMS starts a mock of AWS and points this process's SDK at it.
func startKMS(t *testing.T) (*moto.Server, *kms.Client) {
	t.Helper()
	server, err := moto.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL_KMS": server.Endpoint, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "eu-west-1", "AWS_MAX_ATTEMPTS": "1",
	} {
		t.Setenv(name, value)
	}
	cfg, err := config.LoadDefaultConfig(t.Context(), config.WithRegion("eu-central-1"))
	if err != nil {
		t.Fatal(err)
	}
	return server, kms.NewFromConfig(cfg)
}

func kmsKey(t *testing.T, client *kms.Client) string {
	t.Helper()
	made, err := client.CreateKey(t.Context(), &kms.CreateKeyInput{})
	if err != nil {
		t.Fatal(err)
	}
	return *made.KeyMetadata.Arn
}

// TestKMS seals to keys of a mock of AWS KMS, in another region than the process's own.
// It sets the process's environment and so is not parallel.
//
//nolint:paralleltest // see above
func TestKMS(t *testing.T) {
	server, client := startKMS(t)
	arn, other := kmsKey(t, client), kmsKey(t, client)
	person := ageHolder(t)
	sealed, err := seal.Seal(t.Context(), state, []string{"awskms:" + arn, "awskms:///" + other + "?region=eu-central-1", person.recipient}, secret)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(sealed[:2000]), arn) {
		t.Error("the header does not say which key opens it")
	}
	open := func(t *testing.T, subject seal.Subject, want error) {
		t.Helper()
		got, err := seal.Open(t.Context(), subject, nil, sealed, 1<<20)
		if !errors.Is(err, want) || (err == nil) != bytes.Equal(got, secret) {
			t.Errorf("got %d bytes, %v; want %v", len(got), err, want)
		}
	}
	open(t, state, nil)
	open(t, seal.Subject{Environment: "dev", Kind: seal.KindState}, seal.ErrNoKey)
	open(t, seal.Subject{Environment: "prod", Kind: seal.KindJournal}, seal.ErrNoKey)
	if _, err := client.ScheduleKeyDeletion(t.Context(), &kms.ScheduleKeyDeletionInput{KeyId: aws.String(arn[strings.LastIndex(arn, "/")+1:]), PendingWindowInDays: aws.Int32(7)}); err != nil {
		t.Fatal(err)
	}
	open(t, state, nil) // by the other key

	server.Stop()
	if _, err := seal.Open(t.Context(), state, nil, sealed, 1<<20); err == nil || errors.Is(err, seal.ErrNoKey) {
		t.Errorf("KMS is away, and the answer is %v", err)
	}
	if _, err := seal.Open(t.Context(), state, person.identities, sealed, 1<<20); err != nil {
		t.Errorf("a person needs no KMS: %v", err)
	}
}

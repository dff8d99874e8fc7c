package signer_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"
	"golang.org/x/crypto/ssh"

	"github.com/towline/terraform-provider-towline/internal/objstore/mem"
	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest/moto"
	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/signer"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

func newKey(t *testing.T) trust.Key {
	t.Helper()
	key, err := trust.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// keyFile writes a new key and returns its path.
func keyFile(t *testing.T) (string, trust.Key) {
	t.Helper()
	key := newKey(t)
	text, err := key.PEM()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path, key
}

// sshAgent starts a real agent and gives it keys by comment.
func sshAgent(t *testing.T, comments ...string) map[string]string {
	t.Helper()
	dir := t.TempDir()
	socket := filepath.Join(dir, "agent")
	agent := exec.Command("ssh-agent", "-D", "-a", socket)
	if err := agent.Start(); err != nil {
		t.Fatalf("the SSH agent is needed: install openssh-client: %v", err)
	}
	t.Cleanup(func() { _ = agent.Process.Kill(); _ = agent.Wait() })
	t.Setenv("SSH_AUTH_SOCK", socket)
	waitFor(t, func() bool { _, err := os.Stat(socket); return err == nil })
	fingerprints := map[string]string{}
	for _, comment := range comments {
		public, private, err := ed25519.GenerateKey(nil)
		if err != nil {
			t.Fatal(err)
		}
		block, err := ssh.MarshalPrivateKey(private, comment)
		if err != nil {
			t.Fatal(err)
		}
		add := exec.Command("ssh-add", "-")
		add.Stdin = bytes.NewReader(pem.EncodeToMemory(block))
		if output, err := add.CombinedOutput(); err != nil {
			t.Fatalf("ssh-add: %v: %s", err, output)
		}
		sshPublic, err := ssh.NewPublicKey(public)
		if err != nil {
			t.Fatal(err)
		}
		fingerprints[comment] = ssh.FingerprintSHA256(sshPublic)
	}
	return fingerprints
}

func waitFor(t *testing.T, ready func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for !ready() {
		select {
		case <-ctx.Done():
			t.Fatal("the SSH agent does not listen")
		case <-ticker.C:
		}
	}
}

// kmsAlias makes a key in a mock of AWS KMS.
func kmsAlias(t *testing.T, alias string, spec types.KeySpec) {
	t.Helper()
	server, err := moto.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL_KMS": server.Endpoint, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "eu-central-1",
	} {
		t.Setenv(name, value)
	}
	cfg, err := config.LoadDefaultConfig(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	client := kms.NewFromConfig(cfg)
	made, err := client.CreateKey(t.Context(), &kms.CreateKeyInput{KeySpec: spec, KeyUsage: types.KeyUsageTypeSignVerify})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CreateAlias(t.Context(), &kms.CreateAliasInput{AliasName: aws.String("alias/" + alias), TargetKeyId: made.KeyMetadata.KeyId}); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, name string) trust.Keyring {
	t.Helper()
	ring, err := signer.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

// TestEveryKindForEveryRole gives each role of a repository to each kind of key in
// turn, publishes and has an agent read. It sets the process's environment and so is
// not parallel.
//
//nolint:paralleltest // see above
func TestEveryKindForEveryRole(t *testing.T) {
	fingerprints := sshAgent(t, "release@laptop")
	kmsAlias(t, "towline", types.KeySpecEccNistP256)
	path, _ := keyFile(t)
	kinds := []string{path, "ssh-agent:" + fingerprints["release@laptop"], "awskms:///alias/towline"}
	for turn := range kinds {
		t.Run(kinds[turn], func(t *testing.T) {
			// The roles take turns, so that after three of them each kind had each role.
			role := func(number int) trust.RoleSpec {
				keys := open(t, kinds[(turn+number)%len(kinds)]).Public()
				return trust.RoleSpec{Keys: keys, Threshold: 1, Expiry: time.Hour}
			}
			all := trust.RoleSpec{Threshold: 3, Expiry: time.Hour}
			var ring trust.Keyring
			for _, kind := range kinds {
				ring = append(ring, open(t, kind)...)
			}
			all.Keys = ring.Public()
			config := repository.Config{
				Top:          trust.Top{Root: role(0), Targets: role(1), Snapshot: role(2), Timestamp: role(0)},
				Environments: map[string]trust.RoleSpec{"prod": role(1)}, Channels: map[string]trust.RoleSpec{"stable": all},
			}
			publishAndRead(t, config, trust.Signing{Keys: ring, Now: time.Now()})
		})
	}
}

func publishAndRead(t *testing.T, config repository.Config, signing trust.Signing) {
	t.Helper()
	store := mem.New(t.Name())
	r, err := repository.Init(t.Context(), store, config, signing)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Publish(t.Context(), signing, "stable", []byte("content"), repository.Note{}); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Config(t.Context()); err != nil || !got.Equal(config) {
		t.Errorf("who may sign is %+v, %v; want %+v", got, err, config)
	}
	client, err := repository.NewClient(store, t.TempDir(), r.Root())
	if err != nil {
		t.Fatal(err)
	}
	state, err := client.Update(t.Context(), time.Now(), "prod", "stable")
	if err != nil || state.Revision == nil {
		t.Errorf("an agent reads %+v, %v", state, err)
	}
}

// TestNames opens keys by every notation, and refuses what names none with a reason.
// It sets the process's environment and so is not parallel.
//
//nolint:paralleltest // see above
func TestNames(t *testing.T) {
	fingerprints := sshAgent(t, "one", "two", "twice", "twice")
	kmsAlias(t, "rsa", types.KeySpecRsa2048)
	path, key := keyFile(t)
	text, err := key.PEM()
	if err != nil {
		t.Fatal(err)
	}
	byText := func(text string) (trust.Keyring, error) { return signer.OpenText(t.Context(), text) }
	byName := func(name string) (trust.Keyring, error) { return signer.Open(t.Context(), name) }
	tests := map[string]struct {
		open   func(string) (trust.Keyring, error)
		given  string
		keys   int
		reason string
	}{
		"file":                     {byName, path, 1, ""},
		"text":                     {byText, string(text), 1, ""},
		"comment":                  {byName, "ssh-agent:one", 1, ""},
		"fingerprint":              {byName, "ssh-agent:" + fingerprints["two"], 1, ""},
		"names in a text":          {byText, "ssh-agent:one\nssh-agent:two\n", 2, ""},
		"comment of two":           {byName, "ssh-agent:twice", 0, "holds 2 keys of this name"},
		"comment of none":          {byName, "ssh-agent:three", 0, "holds 0 keys of this name; it holds: SHA256:"},
		"no such file":             {byName, path + "x", 0, "no such file"},
		"alias of none":            {byName, "awskms:///alias/nothing", 0, "alias/nothing"},
		"key that signs otherwise": {byName, "awskms:///alias/rsa", 0, "ECC_NIST_P256"},
		"alias without slashes":    {byName, "awskms:alias/x", 0, "awskms:///alias/NAME"},
		"other parameter":          {byName, "awskms:///alias/x?profile=y", 0, `no parameter "profile"`},
		"text that names a file":   {byText, path, 0, "private keys in PEM"},
		"text with a secret line":  {byText, "ssh-agent:one\nhunter2", 0, "line 2"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			ring, err := test.open(test.given)
			if len(ring) != test.keys || (err == nil) != (test.reason == "") {
				t.Fatalf("%d keys, %v; want %d", len(ring), err, test.keys)
			}
			if err != nil && (!strings.Contains(err.Error(), test.reason) || strings.Contains(err.Error(), "hunter2")) {
				t.Errorf("the error is %v; want something about %q", err, test.reason)
			}
		})
	}
}

// TestKeeperIsGone: what cannot be signed is an error that says who was asked.
//
//nolint:paralleltest // it sets the process's environment
func TestKeeperIsGone(t *testing.T) {
	sshAgent(t, "one")
	ring := open(t, "ssh-agent:one")
	if output, err := exec.Command("ssh-add", "-D").CombinedOutput(); err != nil {
		t.Fatalf("ssh-add -D: %v: %s", err, output)
	}
	if _, err := ring[0].Sign([]byte("x")); err == nil || !strings.Contains(err.Error(), "SSH agent") {
		t.Errorf("signing with a key that was taken away: %v", err)
	}
	t.Setenv("SSH_AUTH_SOCK", "")
	if _, err := signer.Open(t.Context(), "ssh-agent:one"); err == nil || !strings.Contains(err.Error(), "SSH_AUTH_SOCK") {
		t.Errorf("without an agent: %v", err)
	}
}

package signer_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
)

// digestServer answers as KMS does, and signs digests, which the mock of AWS does not.
func digestServer(t *testing.T) *httptest.Server {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		var asked struct {
			Message     []byte
			MessageType string
		}
		if err := json.NewDecoder(req.Body).Decode(&asked); err != nil {
			t.Error(err)
		}
		answer := map[string]any{"PublicKey": der, "SigningAlgorithms": []string{"ECDSA_SHA_256"}, "KeySpec": "ECC_NIST_P256"}
		if req.Header.Get("X-Amz-Target") == "TrentService.Sign" {
			digest := asked.Message
			if asked.MessageType == "RAW" {
				sum := sha256.Sum256(asked.Message)
				digest = sum[:]
			}
			if len(digest) != sha256.Size || len(asked.Message) > 4096 {
				t.Errorf("asked to sign %d bytes as %s", len(asked.Message), asked.MessageType)
			}
			signature, err := ecdsa.SignASN1(rand.Reader, key, digest)
			if err != nil {
				t.Error(err)
			}
			answer = map[string]any{"Signature": signature}
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

// TestKMSSignsWhatIsTooLongForIt has metadata of every length signed.
//
//nolint:paralleltest // it sets the process's environment
func TestKMSSignsWhatIsTooLongForIt(t *testing.T) {
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL_KMS": digestServer(t).URL, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "eu-central-1",
	} {
		t.Setenv(name, value)
	}
	key := open(t, "awskms:///arn:aws:kms:eu-central-1:1:key/k")[0]
	for _, length := range []int{0, 1, 4096, 4097, 1 << 20} {
		message := bytes.Repeat([]byte("x"), length)
		signature, err := key.Sign(message)
		if err != nil || !key.Public().Verify(message, signature) {
			t.Errorf("%d bytes: %v", length, err)
		}
		if key.Public().Verify(append(message, 'y'), signature) {
			t.Errorf("%d bytes: the signature holds for another message too", length)
		}
	}
}

package sops

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"filippo.io/age"
	"filippo.io/age/armor"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"github.com/towline/terraform-provider-towline/internal/control"
)

type ageKey struct {
	Recipient string `json:"recipient"`
	Enc       string `json:"enc"`
}

type kmsKey struct {
	ARN     string            `json:"arn"`
	Role    string            `json:"role"`
	Profile string            `json:"aws_profile"`
	Context map[string]string `json:"context"`
	Enc     string            `json:"enc"`
}

// flatBool and flatNumber are written as text in formats that know nothing else.
type (
	flatBool   bool
	flatNumber int
)

// UnmarshalJSON implements json.Unmarshaler.
func (b *flatBool) UnmarshalJSON(data []byte) error {
	*b = strings.Trim(string(data), `"`) == "true"
	return nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (n *flatNumber) UnmarshalJSON(data []byte) error {
	return json.Unmarshal([]byte(strings.Trim(string(data), `"`)), (*int)(n))
}

func readMetadata(tree map[string]any) (metadata, error) {
	m := metadata{Rules: map[string]string{}}
	data, err := json.Marshal(tree)
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err != nil {
		return metadata{}, fmt.Errorf("%w: its metadata cannot be read", ErrMalformed)
	}
	for name, val := range tree {
		if text, ok := val.(string); ok {
			m.Rules[name] = text
		}
	}
	if len(m.KeyGroups) > 0 || m.ShamirThreshold > 1 {
		return metadata{}, fmt.Errorf("%w: a data key that is split among groups of keys", ErrUnsupported)
	}
	return m, nil
}

const (
	// maxDataKey bounds a data key, in bytes; AES-256's has 32.
	maxDataKey = 1 << 10
	// maxKeys bounds how many keys of a file are tried.
	maxKeys = 64
	// kmsTimeout bounds one request with its retries.
	kmsTimeout = time.Minute
)

// dataKey opens the file's data key with whatever is at hand; AWS KMS is asked last.
func (m metadata) dataKey(ctx context.Context, identities []age.Identity) ([]byte, error) {
	for _, key := range m.Age[:min(len(m.Age), maxKeys)] {
		if len(identities) == 0 {
			break
		}
		if data, err := key.open(identities); err == nil {
			return data, nil
		}
	}
	var errs []error
	for _, key := range m.KMS[:min(len(m.KMS), maxKeys)] {
		data, err := key.open(ctx)
		if err == nil {
			return data, nil
		}
		errs = append(errs, err)
	}
	if len(errs) > 0 {
		return nil, fmt.Errorf("%w: %w", ErrNoKey, errors.Join(errs...))
	}
	return nil, fmt.Errorf("%w: it is encrypted to %s", ErrNoKey, m.holders())
}

// holders names who can decrypt a file.
func (m metadata) holders() string {
	var names []string
	for _, key := range m.Age[:min(len(m.Age), maxKeys)] {
		names = append(names, key.Recipient)
	}
	if len(names) == 0 {
		return "no age or SSH key and no key of AWS KMS"
	}
	return strings.Join(names, ", ")
}

func (k ageKey) open(identities []age.Identity) ([]byte, error) {
	r, err := age.Decrypt(armor.NewReader(strings.NewReader(k.Enc)), identities...)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, maxDataKey))
}

func (k kmsKey) open(ctx context.Context) ([]byte, error) {
	if k.Role != "" || k.Profile != "" {
		return nil, fmt.Errorf("%w: key %s names a role or a profile; give the agent's own role the use of the key", ErrUnsupported, k.ARN)
	}
	key, err := control.ParseKMSKey(control.KMSScheme + k.ARN)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	blob, err := base64.StdEncoding.DecodeString(k.Enc)
	if err != nil {
		return nil, fmt.Errorf("%w: the data key of %s is not in base64", ErrMalformed, k.ARN)
	}
	ctx, cancel := context.WithTimeout(ctx, kmsTimeout)
	defer cancel()
	cfg, err := config.LoadDefaultConfig(ctx, config.WithRegion(key.Region))
	if err != nil {
		return nil, fmt.Errorf("load AWS configuration: %w", err)
	}
	out, err := kms.NewFromConfig(cfg).Decrypt(ctx, &kms.DecryptInput{KeyId: aws.String(key.ID), CiphertextBlob: blob, EncryptionContext: k.Context})
	if err != nil {
		return nil, fmt.Errorf("decrypt with key %s of AWS KMS: %w", key.ID, err)
	}
	return out.Plaintext, nil
}

package signer

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"

	"github.com/towline/terraform-provider-towline/internal/trust"
)

// kmsTimeout bounds one request with its retries.
const kmsTimeout = time.Minute

// kmsWhole is the longest message, in bytes, that KMS takes whole. The signature is
// the same kind either way; a whole message is what its log can be compared with.
const kmsWhole = 4096

// kmsKey is an asymmetric key of AWS KMS.
type kmsKey struct {
	client *kms.Client
	id     string
	public trust.PublicKey
}

// openKMS reads the public half of awskms:///ID, ID being a key's ID, its ARN or
// alias/NAME. Region and credentials come from the environment, as for every AWS
// tool; ?region= names another region.
func openKMS(ctx context.Context, name string) (trust.Signer, error) {
	id, region, err := parseKMS(name)
	if err != nil {
		return nil, err
	}
	var options []func(*config.LoadOptions) error
	if region != "" {
		options = append(options, config.WithRegion(region))
	}
	cfg, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("load AWS configuration: %w", err)
	}
	key := kmsKey{client: kms.NewFromConfig(cfg), id: id}
	if err := key.load(ctx); err != nil {
		return nil, fmt.Errorf("read the public half of key %s from AWS KMS: %w", id, err)
	}
	return key, nil
}

func parseKMS(name string) (id, region string, err error) {
	parsed, err := url.Parse(name)
	if err != nil || parsed.Host != "" || parsed.User != nil || parsed.Opaque != "" || parsed.Fragment != "" || len(parsed.Path) < 2 {
		return "", "", errors.New("a key of AWS KMS is named awskms:///alias/NAME, awskms:///KEY-ID or awskms:///ARN, with ?region=REGION if need be")
	}
	for parameter := range parsed.Query() {
		if parameter != "region" {
			return "", "", fmt.Errorf("a key of AWS KMS has no parameter %q; region is the only one", parameter)
		}
	}
	id, region = strings.TrimPrefix(parsed.Path, "/"), parsed.Query().Get("region")
	if fields := strings.Split(id, ":"); region == "" && len(fields) == 6 && fields[0] == "arn" {
		region = fields[3]
	}
	return id, region, nil
}

func (k *kmsKey) load(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, kmsTimeout)
	defer cancel()
	out, err := k.client.GetPublicKey(ctx, &kms.GetPublicKeyInput{KeyId: aws.String(k.id)})
	if err != nil {
		return err
	}
	// Metadata can be longer than what KMS signs whole, so only what signs a digest is of use.
	if !slices.Contains(out.SigningAlgorithms, types.SigningAlgorithmSpecEcdsaSha256) {
		return fmt.Errorf("it is a key of kind %s for %s; make one of kind ECC_NIST_P256 for SIGN_VERIFY", out.KeySpec, out.KeyUsage)
	}
	k.public, err = trust.PublicKeyFromDER(out.PublicKey)
	return err
}

// Public implements [trust.Signer].
func (k kmsKey) Public() trust.PublicKey { return k.public }

// Sign implements [trust.Signer].
func (k kmsKey) Sign(message []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), kmsTimeout)
	defer cancel()
	kind := types.MessageTypeRaw
	if len(message) > kmsWhole {
		digest := sha256.Sum256(message)
		kind, message = types.MessageTypeDigest, digest[:]
	}
	out, err := k.client.Sign(ctx, &kms.SignInput{
		KeyId: aws.String(k.id), Message: message, MessageType: kind, SigningAlgorithm: types.SigningAlgorithmSpecEcdsaSha256,
	})
	if err != nil {
		return nil, fmt.Errorf("sign with key %s of AWS KMS: %w", k.id, err)
	}
	return out.Signature, nil
}

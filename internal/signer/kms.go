package signer

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"

	"github.com/towline/terraform-provider-towline/internal/control"
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

// openKMS reads the public half of a key that [control.ParseKMSKey] names. Region and credentials come from the environment, as for every AWS
// tool; ?region= names another region.
func openKMS(ctx context.Context, name string) (trust.Signer, error) {
	named, err := control.ParseKMSKey(name)
	if err != nil {
		return nil, err
	}
	var options []func(*config.LoadOptions) error
	if named.Region != "" {
		options = append(options, config.WithRegion(named.Region))
	}
	cfg, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("load AWS configuration: %w", err)
	}
	key := kmsKey{client: kms.NewFromConfig(cfg), id: named.ID}
	if err := key.load(ctx); err != nil {
		return nil, fmt.Errorf("read the public half of key %s from AWS KMS: %w", named.ID, err)
	}
	return key, nil
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

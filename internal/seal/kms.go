package seal

import (
	"context"
	"crypto/cipher"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"filippo.io/age"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/aws/smithy-go"
	"golang.org/x/crypto/chacha20poly1305"

	"github.com/towline/terraform-provider-towline/internal/control"
)

// kmsStanza is the type of the header's lines for keys of AWS KMS. Its arguments are the
// key's ARN and the encrypted data key; its body is the file key under the data key.
const kmsStanza = "towline/awskms"

// kmsTimeout bounds one request with its retries.
const kmsTimeout = time.Minute

// maxKMSStanzas bounds how many keys of AWS KMS are asked for one thing.
const maxKMSStanzas = 8

// kmsError is trouble on the way to AWS KMS: the thing may open later.
type kmsError struct{ err error }

func (e *kmsError) Error() string { return e.err.Error() }
func (e *kmsError) Unwrap() error { return e.err }

// deniedError is AWS KMS's refusal: other identities may still open the thing.
type deniedError struct{ err error }

func (e *deniedError) Error() string { return e.err.Error() }
func (e *deniedError) Unwrap() error { return e.err }

// encryptionContext is what AWS KMS binds a data key to, and logs.
func (s Subject) encryptionContext() map[string]string {
	return map[string]string{control.EnvironmentContext: s.Environment, "towline:kind": string(s.Kind)}
}

func kmsClient(ctx context.Context, key control.KMSKey) (*kms.Client, error) {
	cfg, err := config.LoadDefaultConfig(ctx, config.WithRegion(key.Region))
	if err != nil {
		return nil, fmt.Errorf("load AWS configuration: %w", err)
	}
	return kms.NewFromConfig(cfg), nil
}

// kmsRecipient wraps file keys. It lives for one call.
type kmsRecipient struct {
	ctx     context.Context //nolint:containedctx // age's interface has none
	subject Subject
	key     control.KMSKey
}

// Wrap implements [age.Recipient].
func (r kmsRecipient) Wrap(fileKey []byte) ([]*age.Stanza, error) {
	ctx, cancel := context.WithTimeout(r.ctx, kmsTimeout)
	defer cancel()
	client, err := kmsClient(ctx, r.key)
	if err != nil {
		return nil, err
	}
	out, err := client.GenerateDataKey(ctx, &kms.GenerateDataKeyInput{
		KeyId: aws.String(r.key.ID), KeySpec: types.DataKeySpecAes256, EncryptionContext: r.subject.encryptionContext(),
	})
	if err != nil {
		return nil, fmt.Errorf("make a data key with key %s of AWS KMS: %w", r.key.ID, err)
	}
	aead, err := dataCipher(out.Plaintext)
	if err != nil {
		return nil, fmt.Errorf("make a data key with key %s of AWS KMS: %w", r.key.ID, err)
	}
	// A data key encrypts once, so that its nonce can be fixed.
	body := aead.Seal(nil, make([]byte, aead.NonceSize()), fileKey, nil) //nolint:gosec // see above
	blob := base64.RawStdEncoding.EncodeToString(out.CiphertextBlob)
	return []*age.Stanza{{Type: kmsStanza, Args: []string{aws.ToString(out.KeyId), blob}, Body: body}}, nil
}

func dataCipher(key []byte) (cipher.AEAD, error) { return chacha20poly1305.New(key) }

// kmsIdentity unwraps file keys with whatever key a thing was sealed to, as far as the
// process's credentials allow. It lives for one call.
type kmsIdentity struct {
	ctx     context.Context //nolint:containedctx // age's interface has none
	subject Subject
}

// Unwrap implements [age.Identity].
func (i kmsIdentity) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	var denied []error
	for _, stanza := range stanzas {
		if stanza.Type != kmsStanza || len(stanza.Args) != 2 || len(denied) == maxKMSStanzas {
			continue
		}
		fileKey, err := i.unwrap(stanza)
		var refusal *deniedError
		if !errors.As(err, &refusal) {
			return fileKey, err
		}
		denied = append(denied, refusal)
	}
	if len(denied) == 0 {
		return nil, age.ErrIncorrectIdentity
	}
	return nil, fmt.Errorf("%w: %w", age.ErrIncorrectIdentity, &deniedError{errors.Join(denied...)})
}

func (i kmsIdentity) unwrap(stanza *age.Stanza) ([]byte, error) {
	key, err := control.ParseKMSKey(control.KMSScheme + stanza.Args[0])
	if err != nil {
		return nil, &deniedError{fmt.Errorf("a line for AWS KMS names no key: %w", err)}
	}
	blob, err := base64.RawStdEncoding.Strict().DecodeString(stanza.Args[1])
	if err != nil {
		return nil, &deniedError{fmt.Errorf("the line of key %s of AWS KMS is damaged", key.ID)}
	}
	ctx, cancel := context.WithTimeout(i.ctx, kmsTimeout)
	defer cancel()
	client, err := kmsClient(ctx, key)
	if err != nil {
		return nil, &kmsError{err}
	}
	out, err := client.Decrypt(ctx, &kms.DecryptInput{KeyId: aws.String(key.ID), CiphertextBlob: blob, EncryptionContext: i.subject.encryptionContext()})
	if err != nil {
		return nil, kmsAnswer(fmt.Errorf("decrypt with key %s of AWS KMS: %w", key.ID, err))
	}
	aead, err := dataCipher(out.Plaintext)
	if err != nil {
		return nil, &deniedError{fmt.Errorf("decrypt with key %s of AWS KMS: %w", key.ID, err)}
	}
	fileKey, err := aead.Open(nil, make([]byte, aead.NonceSize()), stanza.Body, nil)
	if err != nil {
		return nil, &deniedError{fmt.Errorf("the line of key %s of AWS KMS is damaged", key.ID)}
	}
	return fileKey, nil
}

// kmsAnswer tells a refusal from an answer that did not come.
func kmsAnswer(err error) error {
	var answer smithy.APIError
	again := retry.IsErrorRetryables(retry.DefaultRetryables).IsErrorRetryable(err)
	if errors.As(err, &answer) && answer.ErrorFault() != smithy.FaultServer && again != aws.TrueTernary {
		return &deniedError{err}
	}
	return &kmsError{err}
}

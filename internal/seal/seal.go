package seal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"filippo.io/age"

	"github.com/towline/terraform-provider-towline/internal/control"
)

// Subject is what is sealed. AWS KMS opens a sealed thing only for the same subject.
type Subject struct {
	Environment string
	Kind        Kind
}

// Kind is a kind of thing that is sealed.
type Kind string

// What is sealed.
const (
	KindState   Kind = "state"
	KindJournal Kind = "journal"
	KindPlan    Kind = "plan"
	// keyOf begins the kind of a file key that is given to more recipients.
	keyOf Kind = "key-of-"
)

// ErrNoKey is wrapped when none of the identities is a recipient's.
var ErrNoKey = errors.New("none of the keys at hand is a recipient's")

// ErrMalformed is wrapped by every error about bytes that [Seal] has not written.
var ErrMalformed = errors.New("not sealed, or damaged")

// MaxRecipients bounds to whom one thing is sealed: those declared and as many agents as an
// environment can have.
const MaxRecipients = 1024

// Overhead bounds by how many bytes a sealed thing of up to 4 GiB is larger than what is
// in it: lines of at most 1 KiB for each recipient, and 16 bytes for each 64 KiB.
const Overhead = MaxRecipients<<10 + 2<<20

// Seal encrypts data to recipients, as [control.ParseRecipient] reads them.
func Seal(ctx context.Context, subject Subject, recipients []string, data []byte) ([]byte, error) {
	opened, err := openRecipients(ctx, subject, recipients)
	if err != nil {
		return nil, fmt.Errorf("seal %s: %w", subject.Kind, err)
	}
	var out bytes.Buffer
	out.Grow(len(data) + len(data)/1024 + len(recipients)<<8)
	w, err := age.Encrypt(&out, opened...)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("seal %s: %w", subject.Kind, err)
	}
	return out.Bytes(), nil
}

// openRecipients reads recipients, each once.
func openRecipients(ctx context.Context, subject Subject, texts []string) ([]age.Recipient, error) {
	var out []age.Recipient
	seen := map[string]bool{}
	for _, text := range texts {
		if seen[text] {
			continue
		}
		seen[text] = true
		parsed, err := control.ParseRecipient(text)
		if err != nil {
			return nil, fmt.Errorf("recipient %q: %w", text, err)
		}
		if parsed.Age != nil {
			out = append(out, parsed.Age)
		} else {
			out = append(out, kmsRecipient{ctx, subject, parsed.KMS})
		}
	}
	if len(out) == 0 || len(out) > MaxRecipients {
		return nil, fmt.Errorf("there are %d recipients, and there must be between 1 and %d", len(out), MaxRecipients)
	}
	return out, nil
}

// Open decrypts what [Seal] wrote, with the identities or else with AWS KMS, as the
// process's credentials allow. It returns at most limit bytes.
func Open(ctx context.Context, subject Subject, identities []age.Identity, sealed []byte, limit int64) ([]byte, error) {
	data, err := open(sealed, withKMS(ctx, subject, identities), limit)
	if err != nil {
		return nil, fmt.Errorf("open sealed %s: %w", subject.Kind, err)
	}
	return data, nil
}

// withKMS adds AWS KMS, which is asked last: it takes a request.
func withKMS(ctx context.Context, subject Subject, identities []age.Identity) []age.Identity {
	return append(append(make([]age.Identity, 0, len(identities)+1), identities...), kmsIdentity{ctx, subject})
}

func open(sealed []byte, identities []age.Identity, limit int64) ([]byte, error) {
	r, err := age.Decrypt(bytes.NewReader(sealed), identities...)
	if err != nil {
		return nil, refused(err)
	}
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	case int64(len(data)) > limit:
		return nil, fmt.Errorf("%w: it holds more than %d bytes", ErrMalformed, limit)
	}
	return data, nil
}

// refused names why a header did not open.
func refused(err error) error {
	var noMatch *age.NoIdentityMatchError
	var away *kmsError
	switch {
	case errors.As(err, &noMatch):
		var reasons error
		for _, reason := range noMatch.Errors {
			var asked *deniedError
			if errors.As(reason, &asked) {
				reasons = errors.Join(reasons, asked)
			}
		}
		if reasons != nil {
			return fmt.Errorf("%w; %w", ErrNoKey, reasons)
		}
		return ErrNoKey
	case errors.As(err, &away):
		return away
	}
	return fmt.Errorf("%w: %w", ErrMalformed, err)
}

// Share gives what opens a sealed thing to more recipients, without a copy of it. Whoever
// holds the result can do nothing but open that one thing.
func Share(ctx context.Context, subject Subject, identities []age.Identity, sealed []byte, recipients []string) ([]byte, error) {
	header, err := age.ExtractHeader(bytes.NewReader(sealed))
	if err != nil {
		return nil, fmt.Errorf("share sealed %s: %w: %w", subject.Kind, ErrMalformed, err)
	}
	key, err := age.DecryptHeader(header, withKMS(ctx, subject, identities)...)
	if err != nil {
		return nil, fmt.Errorf("share sealed %s: %w", subject.Kind, refused(err))
	}
	return Seal(ctx, subject.key(), recipients, key)
}

// MaxShared bounds what [Share] returns, in bytes.
const MaxShared = MaxRecipients<<10 + 1<<10

// OpenShared opens a sealed thing with what [Share] gave.
func OpenShared(ctx context.Context, subject Subject, identities []age.Identity, sealed, shared []byte, limit int64) ([]byte, error) {
	const keySize = 16 // of every age file
	key, err := Open(ctx, subject.key(), identities, shared, keySize)
	if err != nil {
		return nil, err
	}
	if len(key) != keySize {
		return nil, fmt.Errorf("open shared %s: %w: it holds no key", subject.Kind, ErrMalformed)
	}
	data, err := open(sealed, []age.Identity{age.NewInjectedFileKeyIdentity(key)}, limit)
	if err != nil {
		return nil, fmt.Errorf("open shared %s: %w", subject.Kind, err)
	}
	return data, nil
}

// key is the subject of the key of what a subject is.
func (s Subject) key() Subject { return Subject{s.Environment, keyOf + s.Kind} }

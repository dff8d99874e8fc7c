package seal_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"strings"
	"testing"

	"filippo.io/age"
	"golang.org/x/crypto/ssh"

	"github.com/towline/terraform-provider-towline/internal/seal"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

var state = seal.Subject{Environment: "prod", Kind: seal.KindState}

// secret is what is sealed in tests: more than one of the format's pieces.
var secret = bytes.Repeat([]byte("a value that nobody may see. "), 10_000)

// holder is a recipient and what opens what is sealed to it.
type holder struct {
	recipient  string
	identities []age.Identity
}

func ageHolder(t *testing.T) holder {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return holder{identity.Recipient().String(), parse(t, "# comment\n"+identity.String()+"\n")}
}

// keyHolder is the holder of an ed25519 key; write makes the file.
func keyHolder(t *testing.T, write func(ed25519.PrivateKey) []byte) holder {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	recipient, err := seal.RecipientOf(public)
	if err != nil {
		t.Fatal(err)
	}
	return holder{recipient, parse(t, string(write(private)))}
}

func opensshHolder(t *testing.T) holder {
	t.Helper()
	return keyHolder(t, func(key ed25519.PrivateKey) []byte {
		block, err := ssh.MarshalPrivateKey(key, "somebody")
		if err != nil {
			t.Fatal(err)
		}
		return pem.EncodeToMemory(block)
	})
}

// signingHolder has its key in the form of Towline's signing keys.
func signingHolder(t *testing.T) holder {
	t.Helper()
	key, err := trust.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	public, _ := key.Ed25519().Public().(ed25519.PublicKey)
	recipient, err := seal.RecipientOf(public)
	if err != nil {
		t.Fatal(err)
	}
	text, err := key.PEM()
	if err != nil {
		t.Fatal(err)
	}
	return holder{recipient, parse(t, string(text))}
}

func parse(t *testing.T, text string) []age.Identity {
	t.Helper()
	identities, err := seal.ParseIdentities([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return identities
}

func TestEveryRecipientOpens(t *testing.T) {
	t.Parallel()
	holders := map[string]holder{"age": ageHolder(t), "OpenSSH": opensshHolder(t), "signing key": signingHolder(t)}
	var recipients []string
	for _, h := range holders {
		recipients = append(recipients, h.recipient, h.recipient)
	}
	sealed, err := seal.Seal(t.Context(), state, recipients, secret)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(sealed, secret[:20]) || len(sealed) > len(secret)+seal.Overhead {
		t.Errorf("%d bytes became %d", len(secret), len(sealed))
	}
	for name, h := range holders {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := seal.Open(t.Context(), state, h.identities, sealed, int64(len(secret)))
			if err != nil || !bytes.Equal(got, secret) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
	}
}

// TestAttackSealed has others than recipients try to open, and a writer change what is sealed.
func TestAttackSealed(t *testing.T) {
	t.Parallel()
	h := ageHolder(t)
	sealed, err := seal.Seal(t.Context(), state, []string{h.recipient}, secret)
	if err != nil {
		t.Fatal(err)
	}
	flipped := func(at int) []byte {
		other := bytes.Clone(sealed)
		other[at] ^= 1
		return other
	}
	tests := map[string]struct {
		by     holder
		sealed []byte
		limit  int64
		want   error
	}{
		"stranger":       {opensshHolder(t), sealed, 1 << 20, seal.ErrNoKey},
		"nothing":        {h, nil, 1 << 20, seal.ErrMalformed},
		"clear text":     {h, secret, 1 << 20, seal.ErrMalformed},
		"changed header": {h, flipped(5), 1 << 20, seal.ErrMalformed},
		"changed start":  {h, flipped(len(sealed) - len(secret)), 1 << 20, seal.ErrMalformed},
		"changed end":    {h, flipped(len(sealed) - 1), 1 << 20, seal.ErrMalformed},
		"cut":            {h, sealed[:len(sealed)-1000], 1 << 20, seal.ErrMalformed},
		"longer":         {h, append(bytes.Clone(sealed), 'x'), 1 << 20, seal.ErrMalformed},
		"too large":      {h, sealed, int64(len(secret)) - 1, seal.ErrMalformed},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := seal.Open(t.Context(), state, test.by.identities, test.sealed, test.limit)
			if !errors.Is(err, test.want) || got != nil {
				t.Errorf("%d bytes, %v; want %v", len(got), err, test.want)
			}
		})
	}
}

func TestShare(t *testing.T) {
	t.Parallel()
	first, later, stranger := ageHolder(t), opensshHolder(t), ageHolder(t)
	sealed, err := seal.Seal(t.Context(), state, []string{first.recipient}, secret)
	if err != nil {
		t.Fatal(err)
	}
	shared, err := seal.Share(t.Context(), state, first.identities, sealed, []string{later.recipient})
	if err != nil || len(shared) > seal.MaxShared {
		t.Fatalf("%d bytes, %v", len(shared), err)
	}
	if got, err := seal.OpenShared(t.Context(), state, later.identities, sealed, shared, 1<<20); err != nil || !bytes.Equal(got, secret) {
		t.Errorf("who was given the key: %v", err)
	}
	other, err := seal.Seal(t.Context(), state, []string{first.recipient}, []byte("other"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := seal.OpenShared(t.Context(), state, later.identities, other, shared, 1<<20); err == nil {
		t.Error("the key of one thing opened another")
	}
	if _, err := seal.OpenShared(t.Context(), state, stranger.identities, sealed, shared, 1<<20); !errors.Is(err, seal.ErrNoKey) {
		t.Errorf("a stranger: %v", err)
	}
	if _, err := seal.Share(t.Context(), state, stranger.identities, sealed, []string{stranger.recipient}); !errors.Is(err, seal.ErrNoKey) {
		t.Errorf("a stranger shared: %v", err)
	}
}

func TestNoSuchRecipients(t *testing.T) {
	t.Parallel()
	for name, recipients := range map[string][]string{"none": nil, "other": {"age1nonsense"}, "many": manyRecipients(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if sealed, err := seal.Seal(t.Context(), state, recipients, secret); err == nil {
				t.Errorf("sealed: %d bytes", len(sealed))
			}
		})
	}
}

func manyRecipients(t *testing.T) []string {
	t.Helper()
	all := make([]string, seal.MaxRecipients+1)
	for i := range all {
		all[i] = ageHolder(t).recipient
	}
	return all
}

// TestIdentitiesAreNotQuoted has files that are no identities; what is in them may be a key all the same.
func TestIdentitiesAreNotQuoted(t *testing.T) {
	t.Parallel()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	locked, err := ssh.MarshalPrivateKeyWithPassphrase(private, "", []byte("hunter2"))
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ text, want string }{
		"nothing":         {"", "neither age identities"},
		"password":        {"hunter2\n", "neither age identities"},
		"damaged":         {"AGE-SECRET-KEY-1HUNTER2\n", "neither age identities"},
		"PEM and more":    {string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("hunter2")})), "must be an ed25519 key"},
		"not only PEM":    {"hunter2\n-----BEGIN", "no private key in PEM follows"},
		"with passphrase": {string(pem.EncodeToMemory(locked)), "has a passphrase"},
		"too long":        {strings.Repeat("# hunter2\n", 10_000), "more than"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := seal.ParseIdentities([]byte(test.text))
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(strings.ToLower(err.Error()), "hunter2") {
				t.Errorf("got %v, want something about %q", err, test.want)
			}
		})
	}
}

// FuzzOpen: whatever lies in the store, opening it ends in an error or in what was sealed.
func FuzzOpen(f *testing.F) {
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		f.Fatal(err)
	}
	sealed, err := seal.Seal(f.Context(), state, []string{identity.Recipient().String()}, []byte("value"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sealed)
	f.Add([]byte("age-encryption.org/v1\n-> X25519 x\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := seal.Open(t.Context(), state, []age.Identity{identity}, data, 1<<10)
		if err == nil && string(got) != "value" {
			t.Errorf("something opened that was not sealed: %q", got)
		}
	})
}

package trust

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"strings"
	"testing"
)

// ecdsaKey is a signer as a service that keeps keys is one.
type ecdsaKey struct{ *ecdsa.PrivateKey }

func newECDSA(t *testing.T, curve elliptic.Curve) ecdsaKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return ecdsaKey{key}
}

func (k ecdsaKey) Public() PublicKey {
	public, _ := PublicKeyFrom(k.PrivateKey.Public())
	return public
}

func (k ecdsaKey) Sign(message []byte) ([]byte, error) {
	digest := sha256.Sum256(message)
	return ecdsa.SignASN1(rand.Reader, k.PrivateKey, digest[:])
}

func derOf(t *testing.T, key crypto.PublicKey) []byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func TestParsePublicKey(t *testing.T) {
	t.Parallel()
	p256, p384 := newECDSA(t, elliptic.P256()), newECDSA(t, elliptic.P384())
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ed := testKey("ed")
	inPEM := func(der []byte) string { return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})) }
	in64 := base64.StdEncoding.EncodeToString
	tests := map[string]struct {
		text string
		want PublicKey
	}{
		"ed25519 in base64":     {ed.Public().String(), ed.Public()},
		"ed25519 in PEM":        {inPEM(derOf(t, ed.Ed25519().Public())), ed.Public()},
		"ed25519 as DER":        {in64(derOf(t, ed.Ed25519().Public())), ed.Public()},
		"ECDSA as a service":    {in64(derOf(t, p256.PrivateKey.Public())), p256.Public()},
		"ECDSA in PEM":          {"\n" + inPEM(derOf(t, p256.PrivateKey.Public())), p256.Public()},
		"ECDSA, as it prints":   {p256.Public().String(), p256.Public()},
		"ECDSA, another curve":  {in64(derOf(t, p384.PrivateKey.Public())), PublicKey{}},
		"RSA":                   {inPEM(derOf(t, rsaKey.Public())), PublicKey{}},
		"two in PEM":            {strings.Repeat(inPEM(derOf(t, ed.Ed25519().Public())), 2), PublicKey{}},
		"something of 32 words": {strings.Repeat("a ", 32), PublicKey{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := ParsePublicKey(test.text)
			if got != test.want || (err == nil) != (test.want != PublicKey{}) {
				t.Errorf("ParsePublicKey = %s, %v; want %s", got, err, test.want)
			}
		})
	}
}

// TestECDSAKeysSign has a key that signs differently every time hold every role.
func TestECDSAKeysSign(t *testing.T) {
	t.Parallel()
	key := newECDSA(t, elliptic.P256())
	one := RoleSpec{Keys: []PublicKey{key.Public()}, Threshold: 1, Expiry: spec(1, "x").Expiry}
	p := newPublication(t, func(p *publication) {
		p.signing.Keys = Keyring{key, testKey("lead")}
		p.top = Top{one, one, one, one}
		p.delegations = []Delegation{{EnvironmentRole("prod"), one}, {ChannelRole("stable"), one.With([]PublicKey{testKey("lead").Public()}, nil, 2)}}
	})
	v := p.verifier(noon)
	if err := p.verify(v); err != nil {
		t.Fatal(err)
	}
	if got := v.Top(); !got.Root.Equal(one) {
		t.Errorf("Top = %+v; want %+v", got, one)
	}
	p.signing.Keys = Keyring{wrongSigner{key}}
	if _, err := p.signing.Timestamp(8, one, fileOf(5, p.snapshot)); !errors.Is(err, ErrUnsigned) {
		t.Errorf("a signer that answers something else: %v; want %v", err, ErrUnsigned)
	}
}

// wrongSigner answers what is no signature of its key.
type wrongSigner struct{ ecdsaKey }

func (w wrongSigner) Sign([]byte) ([]byte, error) { return w.ecdsaKey.Sign([]byte("something else")) }

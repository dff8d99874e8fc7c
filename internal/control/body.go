package control

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// MaxHead bounds the signed first line of an object with a body, in bytes.
const MaxHead = 8 << 10

// signBody returns an object of a signed line and a body. The line must name the
// body's digest.
func signBody[R Report](head R, body []byte, key ed25519.PrivateKey) ([]byte, error) {
	signed, err := Sign(head, key)
	if err != nil {
		return nil, err
	}
	return append(append(signed, '\n'), body...), nil
}

// openBody returns the signed line of an object and its body, which is the one that
// was signed.
func openBody[R Report](object []byte, key ed25519.PublicKey, digest func(R) string) (head R, body []byte, err error) {
	var none R
	line, _, found := bytes.Cut(object[:min(len(object), MaxHead)], []byte("\n"))
	if !found {
		return none, nil, fmt.Errorf("%w: it does not begin with a signed line", ErrMalformed)
	}
	if head, err = Open[R](line, key); err != nil {
		return none, nil, err
	}
	if body = object[len(line)+1:]; bodyDigest(body) != digest(head) {
		return none, nil, fmt.Errorf("%w: what follows the signed line is not what was signed", ErrSignature)
	}
	return head, body, nil
}

func bodyDigest(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

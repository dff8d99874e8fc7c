package install

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/ProtonMail/go-crypto/openpgp"
	pgperrors "github.com/ProtonMail/go-crypto/openpgp/errors"

	"github.com/towline/terraform-provider-towline/internal/registry"
)

// maxSums bounds how many packages one release has. Real ones have twenty.
const maxSums = 1000

// checkSignature tells whether one of the keys that the registry vouches for signed
// a document. As with terraform, a key that has expired since still counts.
func checkSignature(document, signature []byte, keys []registry.SigningKey) error {
	for _, key := range keys {
		ring, err := openpgp.ReadArmoredKeyRing(strings.NewReader(key.Armor))
		if err != nil {
			return fmt.Errorf("cannot read the registry's signing key %s: %w", key.KeyID, err)
		}
		_, err = openpgp.CheckDetachedSignature(ring, bytes.NewReader(document), bytes.NewReader(signature), nil)
		switch {
		case err == nil || errors.Is(err, pgperrors.ErrKeyExpired):
			return nil
		case errors.Is(err, pgperrors.ErrUnknownIssuer):
			continue
		default:
			return fmt.Errorf("the signature of the package's checksums does not hold: %w; somebody may have changed them", err)
		}
	}
	return errors.New("the package's checksums are not signed by a key that the registry vouches for")
}

// parseSums reads lines of a SHA-256 in hex and a file's name.
func parseSums(document []byte) (map[string]string, error) {
	out := map[string]string{}
	for line := range strings.Lines(string(document)) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		sum, name, ok := strings.Cut(line, "  ")
		if digest, err := hex.DecodeString(sum); !ok || err != nil || len(digest) != 32 || len(out) >= maxSums {
			return nil, errors.New("the package's checksums are malformed")
		}
		out[strings.TrimPrefix(name, "*")] = strings.ToLower(sum)
	}
	return out, nil
}

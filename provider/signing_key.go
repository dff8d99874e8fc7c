package provider

import (
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/trust"
)

const (
	// maxKeyFile bounds what is read as keys; one takes about 120 bytes.
	maxKeyFile = 64 << 10
	// maxSigningKeys is more than any threshold that people can keep up.
	maxSigningKeys = 64
)

// signingKeys finds the keys: the configuration's text, its file, then the
// environment's. None at all is no error.
func signingKeys(text, file string, getenv func(string) string) (trust.Keyring, error) {
	if text == "" && file == "" {
		text, file = getenv(keyEnv), getenv(keyFileEnv)
	}
	if text == "" && file != "" {
		var err error
		if text, err = readKeyFile(file); err != nil {
			return nil, err
		}
	}
	if text == "" {
		return nil, nil
	}
	return parseKeys([]byte(text))
}

func readKeyFile(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("the key file cannot be read: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxKeyFile+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("the key file cannot be read: %w", err)
	case len(data) > maxKeyFile:
		return "", fmt.Errorf("the key file is larger than %d bytes", maxKeyFile)
	}
	return string(data), nil
}

// parseKeys reads PEM blocks that follow one another. No error quotes the text.
func parseKeys(text []byte) (trust.Keyring, error) {
	var ring trust.Keyring
	for len(strings.TrimSpace(string(text))) > 0 {
		block, rest := pem.Decode(text)
		if block == nil || len(ring) == maxSigningKeys {
			return nil, errors.New("the text must be private keys in PEM (PKCS8) and nothing else")
		}
		key, err := trust.ParseKey(pem.EncodeToMemory(block))
		if err != nil {
			return nil, err
		}
		ring, text = append(ring, key), rest
	}
	if len(ring) == 0 {
		return nil, errors.New("the text holds no key")
	}
	return ring, nil
}

package provider

import (
	"fmt"
	"io"
	"os"

	"github.com/towline/terraform-provider-towline/internal/trust"
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
	return trust.ParseKeyring([]byte(text))
}

func readKeyFile(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("the key file cannot be read: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, trust.MaxKeyring+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("the key file cannot be read: %w", err)
	case len(data) > trust.MaxKeyring:
		return "", fmt.Errorf("the key file is larger than %d bytes", trust.MaxKeyring)
	}
	return string(data), nil
}

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/towline/terraform-provider-towline/internal/trust"
)

// Environment variables with signing keys; the provider reads the same.
const (
	signingKeyEnv     = "TOWLINE_SIGNING_KEY"
	signingKeyFileEnv = "TOWLINE_SIGNING_KEY_FILE"
)

// signers is where a verb finds the keys that it signs with.
type signers struct{ files repeated }

// signerFlags adds the flag for signing keys.
func signerFlags(flags *flag.FlagSet) *signers {
	var s signers
	flags.Var(&s.files, "key", "`FILE` with a private signing key in PEM, or several; may be repeated; else $"+signingKeyEnv+" or the file in $"+signingKeyFileEnv)
	return &s
}

// signing reads the keys: the flags' files, then the environment's.
func (s *signers) signing() (trust.Signing, error) {
	files := s.files
	if len(files) == 0 {
		if text := os.Getenv(signingKeyEnv); text != "" {
			keys, err := trust.ParseKeyring([]byte(text))
			if err != nil {
				return trust.Signing{}, mistake("Invalid signing key", "The signing key in "+signingKeyEnv+" cannot be used: "+err.Error()+".")
			}
			return trust.Signing{Keys: keys, Now: time.Now()}, nil
		}
		if file := os.Getenv(signingKeyFileEnv); file != "" {
			files = repeated{file}
		}
	}
	if len(files) == 0 {
		return trust.Signing{}, mistake("Signing key is missing", "This verb signs something. Give the private key with -key FILE, or in "+signingKeyEnv+" or "+signingKeyFileEnv+". \"towline repository keys new FILE\" makes one.")
	}
	signing := trust.Signing{Now: time.Now()}
	for _, file := range files {
		keys, err := readSigningKeys(file)
		if err != nil {
			return trust.Signing{}, mistake("Invalid signing key", fmt.Sprintf("The signing key file %s cannot be used: %s.", file, err))
		}
		signing.Keys = append(signing.Keys, keys...)
	}
	return signing, nil
}

func readSigningKeys(path string) (trust.Keyring, error) {
	data, err := readKeyFile(path)
	if err != nil {
		return nil, err
	}
	return trust.ParseKeyring(data)
}

// readKeyFile reads a small file. No error quotes what is in it.
func readKeyFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, trust.MaxKeyring+1))
	if err == nil && len(data) > trust.MaxKeyring {
		err = fmt.Errorf("it is larger than %d bytes", trust.MaxKeyring)
	}
	return data, err
}

// newKeyFile makes a key in a file that only its owner reads. It never replaces one:
// nobody could sign for what the old key signed.
func newKeyFile(path string) (trust.Key, error) {
	key, err := trust.GenerateKey()
	if err != nil {
		return trust.Key{}, err
	}
	data, err := key.PEM()
	if err != nil {
		return trust.Key{}, err
	}
	err = writeNew(path, data, 0o600)
	if errors.Is(err, os.ErrExist) {
		return trust.Key{}, mistake("Key file exists already", fmt.Sprintf("The file %s is there already, and a key is never replaced, because only it can sign for what it has signed. Choose another name, or use it with -key.", path))
	}
	if err != nil {
		return trust.Key{}, fmt.Errorf("write key file: %w", err)
	}
	return key, nil
}

// writeNew creates a file whole or not at all, and never replaces one (os.ErrExist).
func writeNew(path string, data []byte, mode os.FileMode) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	err = file.Chmod(mode)
	if err == nil {
		_, err = file.Write(data)
	}
	if err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Link(file.Name(), path)
}

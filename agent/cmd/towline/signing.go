package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/towline/terraform-provider-towline/internal/signer"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// signers is where a verb finds the keys that it signs with.
type signers struct{ names repeated }

// signerFlags adds the flag for signing keys.
func signerFlags(flags *flag.FlagSet) *signers {
	var s signers
	flags.Var(&s.names, "key", "`KEY` that signs: "+signer.Notation+"; may be repeated; else $"+signer.TextEnv+" or $"+signer.NameEnv)
	return &s
}

// signing opens the keys: the flags', else the environment's.
func (s *signers) signing(ctx context.Context) (trust.Signing, error) {
	if len(s.names) == 0 {
		return environmentSigning(ctx)
	}
	signing := trust.Signing{Now: time.Now()}
	for _, name := range s.names {
		keys, err := signer.Open(ctx, name)
		if err != nil {
			return trust.Signing{}, mistake("Invalid signing key", fmt.Sprintf("The signing key %s cannot be used: %s. A key is %s.", name, err, signer.Notation))
		}
		signing.Keys = append(signing.Keys, keys...)
	}
	return signing, nil
}

func environmentSigning(ctx context.Context) (trust.Signing, error) {
	keys, err := signer.Choose(ctx, "", "", os.Getenv)
	if err != nil {
		return trust.Signing{}, mistake("Invalid signing key", fmt.Sprintf("The signing key that %s or %s says cannot be used: %s.", signer.TextEnv, signer.NameEnv, err))
	}
	if len(keys) == 0 {
		return trust.Signing{}, mistake("Signing key is missing", fmt.Sprintf("This verb signs something. Give the key with -key KEY, or in %s or %s. \"towline repository keys new FILE\" makes one.", signer.TextEnv, signer.NameEnv))
	}
	return trust.Signing{Keys: keys, Now: time.Now()}, nil
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

package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/towline/terraform-provider-towline/internal/trust"
)

// keyResult is a signing key in JSON.
type keyResult struct {
	File      string `json:"file"`
	PublicKey string `json:"public_key"`
	ID        string `json:"id"`
}

func (a *app) repositoryKeysNewCommand() *command {
	flags := flag.NewFlagSet("repository keys new", flag.ContinueOnError)
	a.jsonFlag(flags)
	return &command{
		synopsis: "Make a signing key", usage: "[options] FILE", flags: flags,
		long: `Writes a new ed25519 private key to FILE, readable by its owner only, and prints
the public half. A file that exists is not replaced.

JSON: a list of file, public_key, id.`,
		run: a.verb(func(_ context.Context, args []string) (int, error) {
			file, err := oneArgument(args, "repository keys new", "the file to write")
			if err != nil {
				return exitFailed, err
			}
			key, err := newKeyFile(file)
			if err != nil {
				return exitFailed, err
			}
			return exitOK, a.printKeys(file, []trust.PublicKey{key.Public()})
		}),
	}
}

func (a *app) repositoryKeysShowCommand() *command {
	flags := flag.NewFlagSet("repository keys show", flag.ContinueOnError)
	a.jsonFlag(flags)
	return &command{
		synopsis: "Show the public half of signing keys", usage: "[options] FILE", flags: flags,
		long: `FILE holds private keys or one public key in PEM. Only the public half is printed.

JSON: a list of file, public_key, id.`,
		run: a.verb(func(_ context.Context, args []string) (int, error) {
			file, err := oneArgument(args, "repository keys show", "the file with the key")
			if err != nil {
				return exitFailed, err
			}
			keys, err := publicKeys(file)
			if err != nil {
				return exitFailed, mistake("Invalid signing key", fmt.Sprintf("The key file %s cannot be used: %s.", file, err))
			}
			return exitOK, a.printKeys(file, keys)
		}),
	}
}

func publicKeys(file string) ([]trust.PublicKey, error) {
	data, err := readKeyFile(file)
	if err != nil {
		return nil, err
	}
	if key, err := trust.ParsePublicKey(string(data)); err == nil {
		return []trust.PublicKey{key}, nil
	}
	ring, err := trust.ParseKeyring(data)
	return ring.Public(), err
}

func (a *app) printKeys(file string, keys []trust.PublicKey) error {
	if a.json {
		out := make([]keyResult, len(keys))
		for i, key := range keys {
			out[i] = keyResult{file, key.String(), key.ID()}
		}
		return a.printJSON(out)
	}
	for _, key := range keys {
		a.printf("%s\n", key)
	}
	return nil
}

package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/towline/terraform-provider-towline/internal/signer"
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
		synopsis: "Show the public half of signing keys", usage: "[options] KEY", flags: flags,
		long: "KEY is " + signer.Notation + `, or a file
with one public key in PEM. Only the public half is printed.

JSON: a list of file (the key's name), public_key, id.`,
		run: a.verb(func(ctx context.Context, args []string) (int, error) {
			name, err := oneArgument(args, "repository keys show", "the key")
			if err != nil {
				return exitFailed, err
			}
			keys, err := publicKeys(ctx, name)
			if err != nil {
				return exitFailed, mistake("Invalid signing key", fmt.Sprintf("The key %s cannot be used: %s.", name, err))
			}
			return exitOK, a.printKeys(name, keys)
		}),
	}
}

// publicKeys reads the public halves of a key by any name, or a public key's file.
func publicKeys(ctx context.Context, name string) ([]trust.PublicKey, error) {
	if data, err := signer.ReadFile(name); err == nil {
		if key, err := trust.ParsePublicKey(string(data)); err == nil {
			return []trust.PublicKey{key}, nil
		}
	}
	ring, err := signer.Open(ctx, name)
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

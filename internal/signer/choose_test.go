package signer_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/signer"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

func TestKeysAreFoundInOrder(t *testing.T) {
	t.Parallel()
	var pems [3]string
	var publics [3]trust.PublicKey
	for i := range pems {
		key := newKey(t)
		pem, err := key.PEM()
		if err != nil {
			t.Fatal(err)
		}
		pems[i], publics[i] = string(pem), key.Public()
	}
	file := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(file, []byte(pems[1]), 0o600); err != nil {
		t.Fatal(err)
	}
	large := filepath.Join(t.TempDir(), "large.pem")
	if err := os.WriteFile(large, bytes.Repeat([]byte("x"), trust.MaxKeyring+1), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		text, file string
		env        map[string]string
		want       []trust.PublicKey
		err        string
	}{
		"configured text wins":   {text: pems[0], env: map[string]string{signer.TextEnv: pems[2]}, want: publics[:1]},
		"configured file wins":   {file: file, env: map[string]string{signer.TextEnv: pems[2]}, want: publics[1:2]},
		"environment's text":     {env: map[string]string{signer.TextEnv: pems[2], signer.NameEnv: file}, want: publics[2:]},
		"environment's file":     {env: map[string]string{signer.NameEnv: file}, want: publics[1:2]},
		"none":                   {},
		"file that is not there": {file: file + ".absent", err: "cannot be read"},
		"file that is too large": {file: large, err: "larger than"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ring, err := signer.Choose(t.Context(), test.text, test.file, func(name string) string { return test.env[name] })
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("error %v, want %q", err, test.err)
				}
				return
			}
			if err != nil || !slices.Equal(ring.Public(), test.want) {
				t.Errorf("keys %v, %v; want %v", ring.Public(), err, test.want)
			}
		})
	}
}

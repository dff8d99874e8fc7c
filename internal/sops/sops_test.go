package sops_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"filippo.io/age"
	"filippo.io/age/armor"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/google/go-cmp/cmp"

	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest/moto"
	"github.com/towline/terraform-provider-towline/internal/seal"
	"github.com/towline/terraform-provider-towline/internal/sops"
)

// The files in testdata were written by SOPS 3.13.3: groups splits its data key, some
// encrypts two names only and leaves the others out of the MAC.
func file(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func identities(t testing.TB, names ...string) []age.Identity {
	t.Helper()
	var all []age.Identity
	for _, name := range names {
		parsed, err := seal.ParseIdentities(file(t, name))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, parsed...)
	}
	return all
}

// plainJSON and plainYAML are what the files held before they were encrypted.
var (
	plainJSON = map[string]any{
		"password": "correct horse battery", "empty": "", "port": 5432, "ratio": 0.25, "enabled": true, "nothing": nil, "note_unencrypted": "seen by all",
		"nested": map[string]any{"list": []any{"one", 2, map[string]any{"deep": "three"}}, "flag": false},
	}
	plainYAML = map[string]any{
		"password": "correct horse battery", "port": 5432, "ratio": 0.25, "enabled": true, "nothing": nil, "text": "two\nlines\n", "note_unencrypted": "seen by all",
		"nested": map[string]any{"list": []any{"one", 2, map[string]any{"deep": "three"}}},
	}
)

func TestDecrypt(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		format sops.Format
		file   string
		key    string
		want   map[string]any
	}{
		"JSON with an age key":       {sops.JSON, "age.sops.json", "age-key.txt", plainJSON},
		"JSON with an SSH key":       {sops.JSON, "age.sops.json", "ssh-key.pem", plainJSON},
		"some names, MAC of them":    {sops.JSON, "some.sops.json", "ssh-key.pem", plainJSON},
		"YAML with comments":         {sops.YAML, "age.sops.yaml", "age-key.txt", plainYAML},
		"YAML with names by suffix":  {sops.YAML, "suffix.sops.yaml", "age-key.txt", plainYAML},
		"dotenv with several values": {sops.Dotenv, "age.sops.env", "age-key.txt", map[string]any{"password": "correct horse battery", "lines": "one\ntwo", "port": "5432"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := sops.Decrypt(t.Context(), test.format, file(t, test.file), identities(t, test.key))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("values (-want +got):\n%s", diff)
			}
			names, err := sops.Names(test.format, file(t, test.file))
			if err != nil || len(names) != len(got) || !slices.IsSorted(names) {
				t.Errorf("names %v, %v", names, err)
			}
		})
	}
}

// TestAttackEncryptedValues has a file changed by somebody without its key.
func TestAttackEncryptedValues(t *testing.T) {
	t.Parallel()
	text := string(file(t, "age.sops.json"))
	replaced := func(old, by string) string {
		if !strings.Contains(text, old) {
			t.Fatalf("the file has no %s", old)
		}
		return strings.Replace(text, old, by, 1)
	}
	lines := strings.Split(text, "\n")
	swapped := slices.Clone(lines)
	swapped[1], swapped[3] = strings.Replace(lines[3], `"port"`, `"password"`, 1), strings.Replace(lines[1], `"password"`, `"port"`, 1)
	moved := slices.Clone(lines)
	moved[1], moved[3] = lines[3], lines[1]
	tests := map[string]struct {
		text string
		want error
	}{
		"value in clear text put in":       {replaced(lines[1], `	"password": "hunter2",`), sops.ErrMalformed},
		"value taken out":                  {replaced(lines[1]+"\n", ""), sops.ErrMalformed},
		"values exchanged":                 {strings.Join(swapped, "\n"), sops.ErrMalformed},
		"order changed":                    {strings.Join(moved, "\n"), sops.ErrMalformed},
		"unencrypted value changed":        {replaced("seen by all", "hunter2"), sops.ErrMalformed},
		"value that is not to be a number": {replaced(lines[1], `	"password": 1,`), sops.ErrMalformed},
		"MAC taken out":                    {replaced(`"mac":`, `"x":`), sops.ErrMalformed},
		"time changed":                     {replaced(`"lastmodified": "2026`, `"lastmodified": "2025`), sops.ErrMalformed},
		"no metadata":                      {`{"password": "hunter2"}`, sops.ErrMalformed},
		"no JSON":                          {"hunter2", sops.ErrMalformed},
		"a name twice":                     {replaced(lines[1], lines[1]+"\n"+lines[1]), sops.ErrMalformed},
		"rule that is no expression":       {replaced(`"unencrypted_suffix": "_unencrypted"`, `"encrypted_regex": "("`), sops.ErrMalformed},
		"rules by comments":                {replaced(`"unencrypted_suffix": "_unencrypted"`, `"encrypted_comment_regex": "x"`), sops.ErrUnsupported},
		"too large":                        {text + strings.Repeat(" ", sops.MaxFile), sops.ErrMalformed},
		"split among groups":               {string(file(t, "groups.sops.json")), sops.ErrUnsupported},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := sops.Decrypt(t.Context(), sops.JSON, []byte(test.text), identities(t, "age-key.txt", "ssh-key.pem"))
			if !errors.Is(err, test.want) || got != nil {
				t.Errorf("got %v, %v; want %v", got, err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error quotes a value: %v", err)
			}
		})
	}
}

func TestOthersCannotDecrypt(t *testing.T) {
	t.Parallel()
	stranger, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	for name, keys := range map[string][]age.Identity{"no key": nil, "a stranger's": {stranger}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := sops.Decrypt(t.Context(), sops.JSON, file(t, "age.sops.json"), keys)
			if !errors.Is(err, sops.ErrNoKey) || !strings.Contains(err.Error(), "age17m682juwm") {
				t.Errorf("got %v; want who can", err)
			}
		})
	}
}

// TestKMS has a file whose data key is encrypted with a mock of AWS KMS. It sets the
// process's environment and so is not parallel.
//
//nolint:paralleltest // see above
func TestKMS(t *testing.T) {
	server, err := moto.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL_KMS": server.Endpoint, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "eu-west-1", "AWS_MAX_ATTEMPTS": "1",
	} {
		t.Setenv(name, value)
	}
	cfg, err := config.LoadDefaultConfig(t.Context(), config.WithRegion("eu-central-1"))
	if err != nil {
		t.Fatal(err)
	}
	client := kms.NewFromConfig(cfg)
	made, err := client.CreateKey(t.Context(), &kms.CreateKeyInput{})
	if err != nil {
		t.Fatal(err)
	}
	encrypted, err := client.Encrypt(t.Context(), &kms.EncryptInput{KeyId: made.KeyMetadata.Arn, Plaintext: dataKey(t), EncryptionContext: map[string]string{"app": "x"}})
	if err != nil {
		t.Fatal(err)
	}
	withKMS := func(key map[string]any) []byte {
		var all map[string]json.RawMessage
		if err := json.Unmarshal(file(t, "age.sops.json"), &all); err != nil {
			t.Fatal(err)
		}
		var meta map[string]any
		if err := json.Unmarshal(all["sops"], &meta); err != nil {
			t.Fatal(err)
		}
		delete(meta, "age")
		meta["kms"] = []any{key}
		text, err := json.Marshal(meta)
		if err != nil {
			t.Fatal(err)
		}
		// The order of values counts, so that the text is kept and only the metadata changed.
		return []byte(strings.Replace(string(file(t, "age.sops.json")), string(all["sops"]), string(text), 1))
	}
	key := map[string]any{"arn": *made.KeyMetadata.Arn, "enc": base64.StdEncoding.EncodeToString(encrypted.CiphertextBlob), "context": map[string]string{"app": "x"}, "aws_profile": ""}
	got, err := sops.Decrypt(t.Context(), sops.JSON, withKMS(key), nil)
	if diff := cmp.Diff(plainJSON, got); err != nil || diff != "" {
		t.Errorf("%v, values (-want +got):\n%s", err, diff)
	}
	key["context"] = map[string]string{"app": "y"}
	if _, err := sops.Decrypt(t.Context(), sops.JSON, withKMS(key), nil); !errors.Is(err, sops.ErrNoKey) {
		t.Errorf("another context: %v", err)
	}
	key["role"] = "arn:aws:iam::1:role/x"
	if _, err := sops.Decrypt(t.Context(), sops.JSON, withKMS(key), nil); !errors.Is(err, sops.ErrUnsupported) {
		t.Errorf("a role: %v", err)
	}
}

// dataKey opens the data key of a file.
func dataKey(t *testing.T) []byte {
	t.Helper()
	var parsed struct {
		SOPS struct {
			Age []struct{ Enc string }
		}
	}
	if err := json.Unmarshal(file(t, "age.sops.json"), &parsed); err != nil {
		t.Fatal(err)
	}
	r, err := age.Decrypt(armor.NewReader(strings.NewReader(parsed.SOPS.Age[0].Enc)), identities(t, "age-key.txt", "ssh-key.pem")...)
	if err != nil {
		t.Fatal(err)
	}
	key, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// FuzzDecrypt: whatever a revision holds, reading it ends in an error or in values.
func FuzzDecrypt(f *testing.F) {
	keys := identities(f, "age-key.txt", "ssh-key.pem")
	formats := []sops.Format{sops.JSON, sops.YAML, sops.Dotenv}
	for i, name := range []string{"age.sops.json", "age.sops.yaml", "age.sops.env"} {
		f.Add(byte(i), file(f, name))
	}
	f.Fuzz(func(t *testing.T, format byte, data []byte) {
		of := formats[int(format)%len(formats)]
		names, namesErr := sops.Names(of, data)
		// A key of AWS KMS would be asked for over the network.
		if strings.Contains(string(data), "kms") {
			return
		}
		got, err := sops.Decrypt(t.Context(), of, data, keys)
		if err == nil && (namesErr != nil || len(got) != len(names)) {
			t.Errorf("%d values have the names %v, %v", len(got), names, namesErr)
		}
	})
}

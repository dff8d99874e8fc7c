package sops

import (
	"context"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"filippo.io/age"
)

// MaxFile bounds a file, in bytes.
const MaxFile = 4 << 20

var (
	// ErrNoKey is wrapped when none of the keys at hand decrypts a file.
	ErrNoKey = errors.New("none of the keys at hand decrypts it")
	// ErrMalformed is wrapped by every error about files that SOPS has not written, or that
	// were changed since.
	ErrMalformed = errors.New("not a file as SOPS writes it, or changed since")
	// ErrUnsupported is wrapped by errors about what this package leaves out.
	ErrUnsupported = errors.New("it needs what is not supported")
)

// Format is how a file is written.
type Format string

// The formats, by the ending of a file's name.
const (
	JSON   Format = "json"
	YAML   Format = "yaml"
	Dotenv Format = "env"
)

// Decrypt returns the values of a file by name: text, int, float64, bool, nil, []any and
// map[string]any. No error quotes any.
func Decrypt(ctx context.Context, format Format, data []byte, identities []age.Identity) (map[string]any, error) {
	if len(data) > MaxFile {
		return nil, fmt.Errorf("%w: it has %d bytes, more than %d", ErrMalformed, len(data), MaxFile)
	}
	tree, meta, err := parse(format, data)
	if err != nil {
		return nil, err
	}
	rule, err := newRule(meta)
	if err != nil {
		return nil, err
	}
	key, err := meta.dataKey(ctx, identities)
	if err != nil {
		return nil, err
	}
	opener, err := newOpener(key, rule)
	if err != nil {
		return nil, err
	}
	if err := opener.branch(tree, nil); err != nil {
		return nil, err
	}
	if err := opener.verify(meta); err != nil {
		return nil, err
	}
	return plain(tree), nil
}

// Names returns the names of a file's values, which are not encrypted, sorted.
func Names(format Format, data []byte) ([]string, error) {
	if len(data) > MaxFile {
		return nil, fmt.Errorf("%w: it has %d bytes, more than %d", ErrMalformed, len(data), MaxFile)
	}
	tree, _, err := parse(format, data)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(tree))
	for i := range tree {
		names[i] = tree[i].name
	}
	slices.Sort(names)
	return names, nil
}

// metadata is what SOPS keeps of a file in it.
type metadata struct {
	Age              []ageKey          `json:"age"`
	KMS              []kmsKey          `json:"kms"`
	KeyGroups        []any             `json:"key_groups"`
	ShamirThreshold  flatNumber        `json:"shamir_threshold"`
	LastModified     string            `json:"lastmodified"`
	MAC              string            `json:"mac"`
	MACOnlyEncrypted flatBool          `json:"mac_only_encrypted"`
	Rules            map[string]string `json:"-"`
}

// rule says which values are encrypted.
type rule struct {
	encryptedSuffix, unencryptedSuffix string
	encrypted, unencrypted             *regexp.Regexp
	// macOnlyEncrypted leaves the others out of the MAC.
	macOnlyEncrypted bool
}

// ruleNames are the rules that a file can have; without any, names that end with
// _unencrypted are of values that are not encrypted.
var ruleNames = []string{"unencrypted_suffix", "encrypted_suffix", "unencrypted_regex", "encrypted_regex", "unencrypted_comment_regex", "encrypted_comment_regex"}

func newRule(m metadata) (*rule, error) {
	if !slices.ContainsFunc(ruleNames, func(name string) bool { return m.Rules[name] != "" }) {
		m.Rules["unencrypted_suffix"] = "_unencrypted"
	}
	r := &rule{macOnlyEncrypted: bool(m.MACOnlyEncrypted), encryptedSuffix: m.Rules["encrypted_suffix"], unencryptedSuffix: m.Rules["unencrypted_suffix"]}
	for name, into := range map[string]**regexp.Regexp{"encrypted_regex": &r.encrypted, "unencrypted_regex": &r.unencrypted} {
		if text := m.Rules[name]; text != "" {
			compiled, err := regexp.Compile(text)
			if err != nil {
				return nil, fmt.Errorf("%w: its %s is no regular expression", ErrMalformed, name)
			}
			*into = compiled
		}
	}
	for _, name := range []string{"encrypted_comment_regex", "unencrypted_comment_regex"} {
		if m.Rules[name] != "" {
			return nil, fmt.Errorf("%w: %s; encrypt the file by names (encrypted_regex) instead of comments", ErrUnsupported, name)
		}
	}
	return r, nil
}

// encrypts tells whether the value at a path is encrypted. A later condition wins over
// those before it.
func (r *rule) encrypts(path []string) bool {
	encrypted := true
	if r.unencryptedSuffix != "" {
		encrypted = !anyOf(path, func(name string) bool { return strings.HasSuffix(name, r.unencryptedSuffix) })
	}
	if r.encryptedSuffix != "" {
		encrypted = anyOf(path, func(name string) bool { return strings.HasSuffix(name, r.encryptedSuffix) })
	}
	if r.unencrypted != nil && anyOf(path, r.unencrypted.MatchString) {
		encrypted = false
	}
	if r.encrypted != nil {
		encrypted = anyOf(path, r.encrypted.MatchString)
	}
	return encrypted
}

func anyOf(path []string, is func(string) bool) bool {
	return slices.ContainsFunc(path, is)
}

// macPrefix begins the MAC of files whose MAC covers encrypted values only: the SHA-256
// of "sops".
var macPrefix, _ = hex.DecodeString("8a3fd2ad54ce66527b1034f3d147be0b0b975b3bf44f72c6fdadec8176f27d69")

// verify compares the MAC of what was opened with the file's own.
func (o *opener) verify(m metadata) error {
	if m.MAC == "" {
		return fmt.Errorf("%w: it has no MAC", ErrMalformed)
	}
	// The time is authenticated in one form, whatever the file's.
	modified, err := time.Parse(time.RFC3339, m.LastModified)
	if err != nil {
		return fmt.Errorf("%w: its time of modification is not valid", ErrMalformed)
	}
	want, err := o.text(m.MAC, modified.Format(time.RFC3339))
	if err != nil {
		return fmt.Errorf("%w: its MAC does not open", ErrMalformed)
	}
	text, ok := want.(string)
	if !ok || subtle.ConstantTimeCompare([]byte(text), fmt.Appendf(nil, "%X", o.hash.Sum(nil))) != 1 {
		return fmt.Errorf("%w: its MAC does not hold", ErrMalformed)
	}
	return nil
}

// newMAC begins a MAC.
func newMAC(r *rule) *opener {
	o := &opener{rule: r, hash: sha512.New()}
	if r.macOnlyEncrypted {
		o.hash.Write(macPrefix)
	}
	return o
}

package control

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"filippo.io/age"
	"filippo.io/age/agessh"
	"golang.org/x/crypto/ssh"
)

// MaxRecipients bounds who can open what an agent seals: each costs a line of every object.
const MaxRecipients = 64

// Recipient is who can open what an agent seals. Exactly one field is set.
type Recipient struct {
	// Age is an age key (age1…) or an ed25519 key of SSH.
	Age age.Recipient
	// KMS is a symmetric key of AWS KMS.
	KMS KMSKey
}

// ParseRecipient reads age1…, "ssh-ed25519 …" or awskms:ARN.
func ParseRecipient(text string) (Recipient, error) {
	switch {
	case strings.HasPrefix(text, KMSScheme):
		key, err := ParseKMSKey(text)
		if err == nil && !key.named() {
			err = errors.New("a recipient of AWS KMS must be an ARN, such as awskms:arn:aws:kms:REGION:ACCOUNT:key/ID: it must mean the same key on every machine")
		}
		return Recipient{KMS: key}, err
	case strings.HasPrefix(text, ssh.KeyAlgoED25519+" "):
		key, err := ParseApprover(text)
		if err != nil {
			return Recipient{}, err
		}
		recipient, err := agessh.NewEd25519Recipient(key)
		return Recipient{Age: recipient}, err
	case strings.HasPrefix(text, "age1"):
		recipient, err := age.ParseX25519Recipient(text)
		if err != nil {
			return Recipient{}, errors.New("not an age recipient as age-keygen prints it (age1 and 58 letters and digits); those of plugins and hybrid keys cannot stand beside an agent's own key")
		}
		return Recipient{Age: recipient}, nil
	}
	return Recipient{}, errors.New("must be age1…, \"ssh-ed25519 …\" or awskms:ARN")
}

// EnvironmentContext is the field of AWS KMS's encryption context that names the
// environment of what is sealed, for policies.
const EnvironmentContext = "towline:environment"

// KMSScheme begins the name of a key of AWS KMS.
const KMSScheme = "awskms:"

// KMSKey names a key of AWS KMS.
type KMSKey struct {
	// ID is a key's ID, its ARN, alias/NAME or an alias's ARN.
	ID string
	// Region is "" where the environment says which.
	Region string
}

// named tells whether the key has the same name everywhere.
func (k KMSKey) named() bool {
	fields := strings.Split(k.ID, ":")
	return len(fields) == 6 && fields[0] == "arn" && fields[2] == "kms" && fields[3] != "" && fields[4] != "" &&
		strings.HasPrefix(fields[5], "key/")
}

// ParseKMSKey reads awskms:///ID or awskms:ARN, with ?region=REGION if need be.
func ParseKMSKey(name string) (KMSKey, error) {
	parsed, err := url.Parse(name)
	malformed := err != nil || parsed.Host != "" || parsed.User != nil || parsed.Fragment != ""
	var id string
	if !malformed {
		id = strings.TrimPrefix(parsed.Path, "/")
		if strings.HasPrefix(parsed.Opaque, "arn:") {
			id = parsed.Opaque
		}
	}
	if id == "" {
		return KMSKey{}, errors.New("a key of AWS KMS is named awskms:///alias/NAME, awskms:///KEY-ID or awskms:ARN, with ?region=REGION if need be")
	}
	for parameter := range parsed.Query() {
		if parameter != "region" {
			return KMSKey{}, fmt.Errorf("a key of AWS KMS has no parameter %q; region is the only one", parameter)
		}
	}
	key := KMSKey{ID: id, Region: parsed.Query().Get("region")}
	if fields := strings.Split(id, ":"); key.Region == "" && len(fields) == 6 && fields[0] == "arn" {
		key.Region = fields[3]
	}
	return key, nil
}

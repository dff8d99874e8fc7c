package control

import (
	"strings"
	"testing"
)

const (
	ageKey = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"
	sshKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti"
	arn    = "arn:aws:kms:eu-central-1:111122223333:key/0d990263-018e-4e65-a703-eff731de951e"
)

func TestParseRecipient(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text   string
		kms    KMSKey
		reason string
	}{
		"age":                    {text: ageKey},
		"SSH":                    {text: sshKey},
		"SSH with a comment":     {text: sshKey + " ana@laptop"},
		"ARN":                    {text: "awskms:" + arn, kms: KMSKey{arn, "eu-central-1"}},
		"ARN with slashes":       {text: "awskms:///" + arn, kms: KMSKey{arn, "eu-central-1"}},
		"ARN and another region": {text: "awskms:" + arn + "?region=eu-west-1", kms: KMSKey{arn, "eu-west-1"}},
		"nothing":                {reason: "must be age1"},
		"damaged age":            {text: ageKey[:60] + "qq", reason: "not an age recipient"},
		"private age key":        {text: "AGE-SECRET-KEY-1QQPQ", reason: "must be age1"},
		"RSA":                    {text: "ssh-rsa AAAAB3NzaC1yc2E=", reason: "must be age1"},
		"damaged SSH":            {text: sshKey[:40], reason: "authorized_keys"},
		"two SSH keys":           {text: sshKey + "\n" + sshKey, reason: "authorized_keys"},
		"alias":                  {text: "awskms:///alias/x", reason: "must be an ARN"},
		"ARN of an alias":        {text: "awskms:arn:aws:kms:eu-central-1:111122223333:alias/x", reason: "must be an ARN"},
		"ARN of something else":  {text: "awskms:arn:aws:s3:::bucket", reason: "must be an ARN"},
		"other parameter":        {text: "awskms:" + arn + "?profile=x", reason: `no parameter "profile"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := ParseRecipient(test.text)
			switch {
			case test.reason != "":
				if err == nil || !strings.Contains(err.Error(), test.reason) {
					t.Errorf("got %v, want something about %q", err, test.reason)
				}
			case err != nil || got.KMS != test.kms || (got.Age == nil) != (test.kms != KMSKey{}):
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

// FuzzParseRecipient: whatever is declared, exactly one kind of recipient comes of it.
func FuzzParseRecipient(f *testing.F) {
	for _, text := range []string{ageKey, sshKey, "awskms:" + arn, "awskms:///x?region=y", "age1", "ssh-ed25519 x"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, err := ParseRecipient(text); err == nil && (got.Age != nil) == (got.KMS != KMSKey{}) {
			t.Errorf("%q is %+v", text, got)
		}
	})
}

package trust_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/trust"
)

func TestSigningKeysMayFollowOneAnother(t *testing.T) {
	t.Parallel()
	var text []byte
	var want []trust.PublicKey
	for range 2 {
		key, err := trust.GenerateKey()
		if err != nil {
			t.Fatal(err)
		}
		pem, err := key.PEM()
		if err != nil {
			t.Fatal(err)
		}
		text, want = append(text, pem...), append(want, key.Public())
	}
	ring, err := trust.ParseKeyring(append(text, '\n'))
	if err != nil || !slices.Equal(ring.Public(), want) {
		t.Errorf("keys %v, %v; want %v", ring.Public(), err, want)
	}
	for name, bad := range map[string]string{
		"words between": string(text) + "secret words", "cut short": string(text[:len(text)-10]), "too many": strings.Repeat(string(text), 64),
	} {
		if _, err := trust.ParseKeyring([]byte(bad)); err == nil {
			t.Errorf("%s: the text was taken for keys", name)
		} else if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), string(text[40:60])) {
			t.Errorf("%s: the error quotes the text: %v", name, err)
		}
	}
}

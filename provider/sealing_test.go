package provider

import (
	"testing"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// keptElsewhere is a key that signs and gives itself to nobody.
type keptElsewhere struct{ trust.Signer }

// TestStateThatNobodyCouldOpen warns where all signing keys are kept by something that
// decrypts nothing, and nowhere else.
func TestStateThatNobodyCouldOpen(t *testing.T) {
	t.Parallel()
	key, err := trust.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := keptElsewhere{key}
	recipients := []string{"age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"}
	tests := map[string]struct {
		keys trust.Keyring
		doc  control.Declared
		want int
	}{
		"kept elsewhere":                  {trust.Keyring{elsewhere}, control.Agent{}, 1},
		"kept elsewhere, with recipients": {trust.Keyring{elsewhere}, control.Agent{Recipients: recipients}, 0},
		"one of them in a file":           {trust.Keyring{elsewhere, key}, control.Agent{}, 0},
		"no key, as in a plan of CI":      {nil, control.Agent{}, 0},
		"no agent":                        {trust.Keyring{elsewhere}, control.Scope{}, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSession(time.Now)
			s.keys = test.keys
			if diags := s.foreseeSealing(test.doc); diags.WarningsCount() != test.want || diags.HasError() {
				t.Errorf("got %v, want %d warnings", diags, test.want)
			}
		})
	}
}

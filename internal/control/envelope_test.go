package control

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestSignAndOpen(t *testing.T) {
	t.Parallel()
	public, private := testKey("agent")
	stranger, _ := testKey("stranger")
	signed, err := Sign(validReceipt(), private)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Open[Receipt](signed, public); err != nil || got.Serial != 4 {
		t.Errorf("Open = %+v, %v", got, err)
	}
	tests := map[string]struct {
		data []byte
		keys []ed25519.PublicKey
	}{
		"stranger's key":   {signed, []ed25519.PublicKey{stranger}},
		"one key too many": {signed, []ed25519.PublicKey{public, stranger}},
		"no key":           {signed, nil},
		"changed payload":  {tamper(t, signed), []ed25519.PublicKey{public}},
		"no signature":     {[]byte(`{"payloadType":"application/vnd.towline.receipt+json","payload":"e30=","signatures":[]}`), []ed25519.PublicKey{public}},
		"more signatures than keys": {bytes.Replace(signed, []byte(`"signatures":[`), []byte(`"signatures":[`+strings.Repeat(`{"keyid":"","sig":""},`, 50)), 1),
			[]ed25519.PublicKey{public}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := Open[Receipt](test.data, test.keys...); !errors.Is(err, ErrSignature) {
				t.Errorf("Open: %v; want %v", err, ErrSignature)
			}
		})
	}
}

// TestAttackReceiptAsHeartbeat presents one kind of document where another is expected.
func TestAttackReceiptAsHeartbeat(t *testing.T) {
	t.Parallel()
	public, private := testKey("agent")
	signed, err := Sign(validReceipt(), private)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open[Heartbeat](signed, public); !errors.Is(err, ErrSignature) {
		t.Errorf("Open: %v; want %v", err, ErrSignature)
	}
}

// tamper raises the serial inside the signed payload.
func tamper(t *testing.T, signed []byte) []byte {
	t.Helper()
	payload, err := Encode(validReceipt())
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Replace(payload, []byte(`"serial":4`), []byte(`"serial":5`), 1)
	out := bytes.Replace(signed, []byte(base64.StdEncoding.EncodeToString(payload)), []byte(base64.StdEncoding.EncodeToString(changed)), 1)
	if bytes.Equal(out, signed) {
		t.Fatal("nothing was changed")
	}
	return out
}

func TestAttackClaim(t *testing.T) {
	t.Parallel()
	_, token := testKey("token")
	agentPublic, agent := testKey("agent")
	_, stranger := testKey("stranger")
	claim := Claim{Version: 1, Environment: "prod", Agent: "eu-1", Generation: 1, AgentKey: EncodeKey(agentPublic), Time: noon}
	before, after := noon.Add(time.Minute), noon.Add(2*time.Hour)
	tests := map[string]struct {
		claim        Claim
		token, agent ed25519.PrivateKey
		created      time.Time
		want         string
	}{
		"good":                      {claim, token, agent, before, ""},
		"wrong token":               {claim, stranger, agent, before, "signature does not hold"},
		"key of another":            {claim, token, stranger, before, "does not hold the key"},
		"expired token":             {claim, token, agent, after, "expired"},
		"another agent":             {change(claim, func(c *Claim) { c.Agent = "eu-2" }), token, agent, before, "is for agent"},
		"another environment":       {change(claim, func(c *Claim) { c.Environment = "dev" }), token, agent, before, "is for agent"},
		"claim of an older token":   {change(claim, func(c *Claim) { c.Generation = 2 }), token, agent, before, "generation"},
		"expired, dated to be fine": {change(claim, func(c *Claim) { c.Time = before }), token, agent, after, "expired"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			signed, err := SignClaim(test.claim, test.token, test.agent)
			if err != nil {
				t.Fatal(err)
			}
			_, key, err := OpenClaim(validAgent(), signed, test.created)
			if test.want == "" {
				if err != nil || !key.Equal(agentPublic) {
					t.Errorf("OpenClaim: %v, key %v", err, key)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("OpenClaim: %v; want something about %q", err, test.want)
			}
		})
	}
}

func TestAttackReceiptChain(t *testing.T) {
	t.Parallel()
	public, private := testKey("agent")
	_, stranger := testKey("stranger")
	chain := signedChain(t, private, 4)
	forged := signedChain(t, stranger, 4)
	otherHistory := signedChain(t, private, 4, func(r *Receipt) { r.Serial = 99 })
	tests := map[string]struct {
		receipts [][]byte
		want     error
	}{
		"whole":               {chain, nil},
		"part":                {chain[2:], nil},
		"nothing":             {nil, nil},
		"one missing":         {[][]byte{chain[0], chain[2]}, ErrChain},
		"one repeated":        {[][]byte{chain[0], chain[0]}, ErrChain},
		"order reversed":      {[][]byte{chain[1], chain[0]}, ErrChain},
		"forged in between":   {[][]byte{chain[0], forged[1], chain[2]}, ErrSignature},
		"history was changed": {[][]byte{chain[0], otherHistory[1], chain[2]}, ErrChain},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := VerifyChain(public, test.receipts)
			if !errors.Is(err, test.want) {
				t.Fatalf("VerifyChain: %v; want %v", err, test.want)
			}
			if err == nil && len(got) != len(test.receipts) {
				t.Errorf("VerifyChain returned %d receipts of %d", len(got), len(test.receipts))
			}
		})
	}
}

func signedChain(t *testing.T, key ed25519.PrivateKey, length int, edits ...func(*Receipt)) [][]byte {
	t.Helper()
	var chain [][]byte
	previous := ""
	for i := range length {
		receipt := validReceipt()
		receipt.Sequence, receipt.Previous = int64(i+1), previous
		for _, edit := range edits {
			edit(&receipt)
		}
		signed, err := Sign(receipt, key)
		if err != nil {
			t.Fatal(err)
		}
		chain = append(chain, signed)
		previous = ReceiptDigest(signed)
	}
	return chain
}

package agent_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"io"
	"log/slog"
	"path/filepath"

	"github.com/towline/terraform-provider-towline/agent"
	"github.com/towline/terraform-provider-towline/internal/control"
)

// newClaimant claims the enrolment with another key, as a thief of the token would.
func newClaimant(w *world) error {
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return err
	}
	public, _ := private.Public().(ed25519.PublicKey)
	signed, err := control.SignClaim(control.Claim{Version: control.FormatVersion, Environment: "prod", Agent: "a1", Generation: 1,
		AgentKey: base64.StdEncoding.EncodeToString(public), Time: w.clock()}, w.token, private)
	if err != nil {
		return err
	}
	_, err = w.store.PutIfAbsent(w.t.Context(), control.ClaimKey("prod", "a1", 1), signed)
	return err
}

// roundLogged does a round of an agent that logs into out.
func (w *world) roundLogged(out io.Writer) control.Outcome {
	w.t.Helper()
	w.stop()
	a, err := agent.New(agent.Config{Store: w.store.URL(), Environment: "prod", Agent: "a1", TrustedRoot: filepath.Join(w.dir, "root.json"),
		DataDir: filepath.Join(w.dir, "data"), JoinToken: &agent.JoinToken{File: filepath.Join(w.dir, "token")}},
		agent.Options{Store: w.store, Now: w.clock, Logger: slog.New(slog.NewTextHandler(out, nil)),
			Providers: w.providers})
	if err != nil {
		w.t.Fatal(err)
	}
	w.agent = a
	return a.Round(w.t.Context())
}

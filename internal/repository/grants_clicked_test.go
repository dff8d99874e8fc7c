package repository

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/towline/terraform-provider-towline/internal/control"
)

// What an agent has received about grants is read as far as it has signed it under its name,
// the newest grants first, and nothing of users who are nobody's approver.
func TestAttackClicksOfGrantsFlooded(t *testing.T) {
	t.Parallel()
	store, declared, key := enrolled(t, 1)
	declared.Slack = &control.Slack{Channel: "#c", BotTokenEnv: "B", AppTokenEnv: "A"}
	public, err := ssh.NewPublicKey(testKey(t, "approver").Ed25519().Public())
	if err != nil {
		t.Fatal(err)
	}
	line := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(public)))
	state := &State{Environment: "prod", Agents: map[string]control.Agent{"web": declared}, Policies: map[string]control.BreakGlassPolicy{"fix": {
		Version: control.FormatVersion, Environment: "prod", Name: "fix", Scopes: []string{"all"}, Approvals: 1, MaxDuration: control.Duration(time.Hour),
		Approvers: []string{line}, SlackUsers: map[string]string{"U0ANA": line},
	}}}
	click := func(id, user string) control.GrantClick {
		request := control.GrantRequest{Version: control.FormatVersion, ID: id, Environment: "prod", Policy: "fix", Targets: []string{"a.b"}, Opened: noon, Until: noon.Add(time.Minute)}
		return control.GrantClick{Version: control.FormatVersion, Environment: "prod", Relay: "web", Verb: control.GrantOpens, Grant: id, Digest: control.RequestDigest(request), Request: &request,
			User: user, Team: "T0", Channel: "C0", Message: "1.2", Time: noon}
	}
	for i := range 110 {
		c := click(fmt.Sprintf("g%03d", i), "U0ANA")
		signed, err := control.Sign(c, key)
		if err != nil {
			t.Fatal(err)
		}
		put(t, store, c.Key(), signed)
		if i == 109 {
			put(t, store, click("z-copied", "U0ANA").Key(), signed)
		}
		stranger, err := control.Sign(click("z-forged", fmt.Sprintf("U0EVE%d", i)), key)
		if err != nil {
			t.Fatal(err)
		}
		put(t, store, click("z-forged", fmt.Sprintf("U0EVE%d", i)).Key(), stranger)
	}
	forged, err := control.Sign(click("z-stranger", "U0ANA"), testKey(t, "stranger").Ed25519())
	if err != nil {
		t.Fatal(err)
	}
	put(t, store, click("z-stranger", "U0ANA").Key(), forged)
	files, err := ReadGrants(t.Context(), store, state)
	if err != nil {
		t.Fatal(err)
	}
	records := files.Records("prod", state.Policies, noon)
	if len(records) != 98 || records[0].ID != "g012" || records[97].ID != "g109" { // two of the newest hundred are not believed
		t.Errorf("%d grants are read", len(records))
	}
	for _, record := range records {
		if record.Refusal != nil || record.Grant.Phase != control.GrantOpen || record.Grant.User != "U0ANA" {
			t.Errorf("%s: %+v, %v", record.ID, record.Grant, record.Refusal)
		}
	}
	one, err := ReadGrant(t.Context(), store, state, "g000")
	if err != nil || len(one["g000"]) != 1 {
		t.Errorf("of the oldest %v is read, %v", one, err)
	}
	if again := ClickedGrants([]control.GrantClick{*one["g000"][0].Click, {}}); len(again) != 1 || again["g000"][0].Key != one["g000"][0].Key {
		t.Errorf("what is kept is read as %v", again)
	}
	declared.Slack = nil
	state.Agents["web"] = declared
	if files, err := ReadGrants(t.Context(), store, state); err != nil || len(files) != 0 {
		t.Errorf("of an agent without an app %d are read, %v", len(files), err)
	}
}

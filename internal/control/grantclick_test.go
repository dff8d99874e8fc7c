package control

import (
	"crypto/ed25519"
	"strings"
	"testing"
	"time"
)

// slackPolicy says who ada and bob are in Slack, and nothing of cid.
func slackPolicy(t *testing.T) BreakGlassPolicy {
	t.Helper()
	policy := validPolicy(t)
	policy.SlackUsers = map[string]string{anaInSlack: approverLine(t, "ada"), benInSlack: ApproverID(testSigner(t, "bob").PublicKey())}
	return policy
}

// openedInSlack is the valid request as a Slack user made it.
func openedInSlack(user string) GrantClick {
	request := validRequest()
	c := saidOfGrant(GrantOpens, user)
	c.Request = &request
	return c
}

// saidOfGrant is what a Slack user said of the valid request.
func saidOfGrant(verb GrantVerb, user string) GrantClick {
	return GrantClick{Version: 1, Environment: "prod", Relay: "a2", Verb: verb, Grant: "g1", Digest: RequestDigest(validRequest()),
		User: user, Team: "T0", Channel: "C0", Message: "1.2", Time: noon}
}

// What is said in Slack counts as a signature of the approver that the policy says the user
// is, once for each person, and is about exactly what was asked for.
func TestGrantsInSlack(t *testing.T) {
	t.Parallel()
	approved := func(user string) GrantClick { return saidOfGrant(GrantApproves, user) }
	closed := func(user string, at time.Time) GrantClick {
		c := saidOfGrant(GrantCloses, user)
		c.Time = at
		return c
	}
	other := approved(benInSlack)
	other.Digest = strings.Repeat("a", 64)
	elsewhere := approved(benInSlack)
	elsewhere.Environment = "test"
	signedBy := func(name string) []byte {
		signed, err := ApproveGrant(GrantFiles{Request: signRequest(t, validRequest(), "cid")}, testSigner(t, name))
		if err != nil {
			t.Fatal(err)
		}
		return signed
	}
	opened, byEve := openedInSlack(anaInSlack), openedInSlack("U0EVE")
	signed := signRequest(t, validRequest(), "ada")
	tests := map[string]struct {
		approvals int
		files     GrantFiles
		now       time.Time
		want      GrantPhase
	}{
		"opened":                      {1, GrantFiles{Opening: &opened}, noon, GrantOpen},
		"one of two":                  {2, GrantFiles{Opening: &opened}, noon, GrantPending},
		"approved in Slack":           {2, GrantFiles{Opening: &opened, Clicks: []GrantClick{approved(benInSlack)}}, noon, GrantOpen},
		"approved by the opener":      {2, GrantFiles{Opening: &opened, Clicks: []GrantClick{approved(anaInSlack)}}, noon, GrantPending},
		"signed by the opener":        {2, GrantFiles{Opening: &opened, Approvals: [][]byte{signedBy("ada")}}, noon, GrantPending},
		"signed by another":           {2, GrantFiles{Opening: &opened, Approvals: [][]byte{signedBy("cid")}}, noon, GrantOpen},
		"clicked and signed":          {3, GrantFiles{Opening: &opened, Approvals: [][]byte{signedBy("bob")}, Clicks: []GrantClick{approved(benInSlack)}}, noon, GrantPending},
		"signed, then clicked":        {2, GrantFiles{Request: signed, Clicks: []GrantClick{approved(benInSlack)}}, noon, GrantOpen},
		"signed, clicked by the same": {2, GrantFiles{Request: signed, Clicks: []GrantClick{approved(anaInSlack)}}, noon, GrantPending},
		"approved by a stranger":      {2, GrantFiles{Opening: &opened, Clicks: []GrantClick{approved("U0EVE")}}, noon, GrantPending},
		"approval of another request": {2, GrantFiles{Opening: &opened, Clicks: []GrantClick{other}}, noon, GrantPending},
		"of another environment":      {2, GrantFiles{Opening: &opened, Clicks: []GrantClick{elsewhere}}, noon, GrantPending},
		"closed":                      {1, GrantFiles{Opening: &opened, Clicks: []GrantClick{closed(benInSlack, noon)}}, noon, GrantClosed},
		"closed by a clock far ahead": {1, GrantFiles{Opening: &opened, Clicks: []GrantClick{closed(benInSlack, noon.Add(9*time.Hour))}}, noon, GrantExpired},
		"closed by a stranger":        {1, GrantFiles{Opening: &opened, Clicks: []GrantClick{closed("U0EVE", noon)}}, noon, GrantOpen},
		"signed, closed in Slack":     {1, GrantFiles{Request: signed, Clicks: []GrantClick{closed(benInSlack, noon)}}, noon, GrantClosed},
		"at its end":                  {1, GrantFiles{Opening: &opened}, noon.Add(30 * time.Minute), GrantExpired},
		"signed comes first":          {1, GrantFiles{Request: signed, Opening: &byEve}, noon, GrantOpen},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			policy := slackPolicy(t)
			policy.Approvals = test.approvals
			grant, err := VerifyGrant(policy, test.files, test.now)
			if err != nil || grant.Phase != test.want {
				t.Errorf("VerifyGrant = %s, %v; want %s", grant.Phase, err, test.want)
			}
		})
	}
	grant, err := VerifyGrant(slackPolicy(t), GrantFiles{Opening: &opened, Approvals: [][]byte{signedBy("cid")}}, noon)
	if err != nil || grant.User != anaInSlack || len(grant.Users) != 1 || grant.Users[grant.Approvers[0]] != anaInSlack || len(grant.Approvers) != 2 {
		t.Errorf("grant %+v, %v", grant, err)
	}
}

// An extension that is signed moves the end of what was opened in Slack.
func TestGrantOfSlackIsExtended(t *testing.T) {
	t.Parallel()
	opened := openedInSlack(anaInSlack)
	until := noon.Add(50 * time.Minute)
	signed, err := SignGrantExtension(GrantExtension{Version: 1, ID: "g1", Until: until, Time: noon}, testSigner(t, "cid"))
	if err != nil {
		t.Fatal(err)
	}
	grant, err := VerifyGrant(slackPolicy(t), GrantFiles{Opening: &opened, Extensions: [][]byte{signed}}, noon.Add(40*time.Minute))
	if err != nil || grant.Phase != GrantOpen || !grant.Request.Until.Equal(until) || grant.Digest != opened.Digest {
		t.Errorf("grant %+v, %v", grant, err)
	}
}

func TestGrantClickKeys(t *testing.T) {
	t.Parallel()
	c := saidOfGrant(GrantApproves, anaInSlack)
	if want := "environments/prod/agents/a2/grants/g1/approve-U0ANA.json"; c.Key() != want {
		t.Errorf("the key is %s, want %s", c.Key(), want)
	}
	if grant, user, ok := ParseGrantClickKey(c.Key()); grant != "g1" || user != anaInSlack || !ok {
		t.Errorf("%s is read as %s, %s, %v", c.Key(), grant, user, ok)
	}
	for _, name := range []string{"", "x", "g1/approve-U0ANA", "g1/destroy-U0ANA.json", "g1/approve-ana.json", "G1/approve-U0ANA.json", "g1/approve-U0ANA.json.json"} {
		if _, _, ok := ParseGrantClickKey(GrantClicksPrefix("prod", "a2") + name); ok {
			t.Errorf("%q is taken for a key", name)
		}
	}
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := Sign(openedInSlack(anaInSlack), private)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Open[GrantClick](signed, public); err != nil || got.Key() != openedInSlack(anaInSlack).Key() {
		t.Errorf("it is read as %+v, %v", got, err)
	}
	if _, err := Open[Click](signed, public); err == nil {
		t.Error("it passes for a click on a plan")
	}
}

func TestGrantClicksThatAreNone(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*GrantClick){
		"verb must be open, approve or close":                    func(c *GrantClick) { c.Verb, c.Request = "destroy", nil },
		"grant must not be empty":                                func(c *GrantClick) { c.Grant = "" },
		"digest must be a SHA-256 in hex":                        func(c *GrantClick) { c.Digest = "../../x" },
		"digest must be that of the request":                     func(c *GrantClick) { c.Digest = strings.Repeat("a", 64) },
		"request must be there of open and only there":           func(c *GrantClick) { c.Request = nil },
		"request must be valid: targets must have between 1 and": func(c *GrantClick) { c.Request.Targets = nil },
		"request must be of grant g2 in the same environment":    func(c *GrantClick) { c.Grant = "g2" },
		"request must be of grant g1 in the same environment":    func(c *GrantClick) { c.Environment = "test" },
		"user must be the ID of a Slack user":                    func(c *GrantClick) { c.User = "ana" },
		"channel must not hold control characters":               func(c *GrantClick) { c.Channel = "\x1b" },
		"relay must not be empty":                                func(c *GrantClick) { c.Relay = "" },
		"time must be a time in UTC":                             func(c *GrantClick) { c.Time = time.Time{} },
		"version is 2, but this program knows 1; upgrade it":     func(c *GrantClick) { c.Version = 2 },
	} {
		c := openedInSlack(anaInSlack)
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

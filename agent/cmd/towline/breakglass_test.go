package main

import (
	"strings"
	"testing"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
)

// A grant says who of those who opened and approved it did so in Slack.
func TestGrantsNameUsersOfSlack(t *testing.T) {
	t.Parallel()
	const ana, ben = "0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"
	grant := control.Grant{
		Request: control.GrantRequest{ID: "g1", Environment: "prod", Policy: "fix", Targets: []string{"a.b"}, Opener: "ana"}, Phase: control.GrantOpen,
		Approvers: []string{ana, ben}, User: "U0ANA", Users: map[string]string{ana: "U0ANA"},
	}
	result := resultOf(grant, control.BreakGlassPolicy{})
	if result.SlackUser != "U0ANA" || result.Approvers[0].SlackUser != "U0ANA" || result.Approvers[1].SlackUser != "" {
		t.Errorf("result %+v", result)
	}
	if row := strings.Join(result.row(time.Now()), "|"); !strings.Contains(row, "0123456789ab (U0ANA in Slack), fedcba987654|") {
		t.Errorf("row %s", row)
	}
}

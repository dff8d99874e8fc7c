package main

import (
	"strings"
	"testing"
	"time"

	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// TestExpiryIsSaidEarly: what ends soon is named before it has ended, by the warnings of all
// verbs and by "repository keys", whose exit code tells.
func TestExpiryIsSaidEarly(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		left     time.Duration
		warnings []string
		code     int
		ends     string
	}{
		"half left":   {50 * time.Hour, nil, exitOK, ""},
		"little left": {9 * time.Hour, []string{"Repository metadata expires soon"}, exitChanges, "(soon)"},
		"ended":       {-time.Hour, []string{"Repository metadata has expired"}, exitChanges, "(soon)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ending := trust.Ending{Role: trust.RoleTimestamp, At: now.Add(test.left), Lifetime: 100 * time.Hour}
			later := trust.Ending{Role: trust.RoleRoot, At: now.Add(1000 * time.Hour), Lifetime: 2000 * time.Hour}
			diags := expiryWarnings([]trust.Ending{ending, later}, now)
			if len(diags) != len(test.warnings) {
				t.Fatalf("warnings %+v; want %q", diags, test.warnings)
			}
			for i, summary := range test.warnings {
				if diags[i].Summary != summary || !strings.Contains(diags[i].Detail, trust.RoleTimestamp) {
					t.Errorf("warning %+v; want %q of the timestamp", diags[i], summary)
				}
			}
			out := &strings.Builder{}
			standings := []repository.Standing{
				{Role: ending.Role, RoleSpec: trust.RoleSpec{Threshold: 1, Expiry: ending.Lifetime}, Ends: ending.At},
				{Role: "env-prod", RoleSpec: trust.RoleSpec{Threshold: 1, Expiry: ending.Lifetime}},
			}
			code, err := (&app{stdout: out}).printStandings(standings, now)
			if err != nil || code != test.code || !strings.Contains(out.String(), test.ends) {
				t.Errorf("exit code %d, %v, want %d; output %s", code, err, test.code, out)
			}
		})
	}
}

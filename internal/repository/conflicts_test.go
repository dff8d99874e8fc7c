package repository

import (
	"crypto/ed25519"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore/mem"
)

func holder(t *testing.T, name string, scopes ...string) control.Agent {
	t.Helper()
	public, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return control.Agent{Version: 1, Environment: "prod", Name: name, Channel: "stable", Scopes: scopes, PollInterval: control.Duration(time.Minute),
		Join: control.Join{Generation: 1, PublicKey: control.EncodeKey(public), Expires: noon.Add(time.Hour)}}
}

func including(name, address string) control.Scope {
	s := scope(name)
	s.Include = []control.Match{{Address: address}}
	return s
}

// TestConflictsAreNotDeclared declares step by step what makes two agents write the
// same: the last step is refused, and what was declared before stays.
func TestConflictsAreNotDeclared(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		before []control.Declared
		last   control.Declared
		want   string // "" if it may be declared
	}{
		"scope that grows":     {[]control.Declared{holder(t, "a", "net"), holder(t, "b", "app"), including("net", "vpc.*"), including("app", "vm.*")}, including("app", "**"), "both include vpc."},
		"agent that takes one": {[]control.Declared{holder(t, "a", "net"), including("net", "vpc.*"), including("all", "**")}, holder(t, "b", "all"), "the scope net of agent a and the scope all of agent b overlap"},
		"agent beside another": {[]control.Declared{holder(t, "a", "net"), including("net", "vpc.*"), including("app", "vm.*")}, holder(t, "b", "app"), ""},
		"agent in its stead":   {[]control.Declared{holder(t, "a", "net"), including("net", "vpc.*")}, holder(t, "b", "net"), ""},
		"scope nobody holds":   {[]control.Declared{holder(t, "a", "net"), holder(t, "b", "app"), including("net", "vpc.*"), including("app", "vm.*")}, including("all", "**"), ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, s := initialise(t, mem.New(t.Name())), signing(t, noon, "owner")
			if _, err := r.PutDocuments(t.Context(), s, test.before...); err != nil {
				t.Fatal(err)
			}
			foreseen, err := r.Conflicts(t.Context(), test.last)
			if err != nil || (len(foreseen) > 0) != (test.want != "") {
				t.Errorf("foreseen %v, %v", foreseen, err)
			}
			changed, err := r.PutDocuments(t.Context(), s, test.last)
			if test.want == "" {
				if !changed || err != nil {
					t.Errorf("PutDocuments = %t, %v", changed, err)
				}
				return
			}
			if !errors.Is(err, ErrConflict) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("PutDocuments: %v; want %q", err, test.want)
			}
			if doc, err := r.Document(t.Context(), test.last.Ref()); err == nil {
				if again, ok := doc.(control.Scope); ok && again.Include[0].Address == "**" {
					t.Error("the conflicting document was declared all the same")
				}
			}
		})
	}
}

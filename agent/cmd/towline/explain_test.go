package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

func TestExplain(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err                   error
		summary, detail, hint string
	}{
		"known":                    {fmt.Errorf("read x: %w", trust.ErrTampered), "Repository was tampered with", "Read x: the content is not", "Find out who may write"},
		"the more particular wins": {fmt.Errorf("%w: %w", repository.ErrNotBelieved, control.ErrChain), "Agent's receipts are not complete", "It is not believed", "removed or exchanged"},
		"unknown":                  {errors.New("disk full"), "Failed to run command", "Disk full.", ""},
		"a diagnostic stays":       {fmt.Errorf("publish: %w", mistake("Channel is missing", "Give one.")), "Channel is missing", "Give one.", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			diags := explain(test.err)
			if len(diags) != 1 || diags[0].Summary != test.summary {
				t.Fatalf("diagnostics %+v; want one with summary %q", diags, test.summary)
			}
			if !strings.HasPrefix(diags[0].Detail, test.detail) || !strings.Contains(diags[0].Detail, test.hint) {
				t.Errorf("detail %q; want it to begin with %q and to say %q", diags[0].Detail, test.detail, test.hint)
			}
		})
	}
}

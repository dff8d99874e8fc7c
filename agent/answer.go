package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/journal"
)

// Answer settles a create whose outcome nobody saw, with what a person found out:
// the object exists and the provider knows it by id, or, with an empty id, it does
// not exist. The agent must not be running: this opens its data folder.
func (a *Agent) Answer(ctx context.Context, addr addrs.ResourceInstance, id string) error {
	asked := func(i journal.Intent) bool { return i.Address == addr.String() && i.Action == "create" }
	if !slices.ContainsFunc(a.open, asked) {
		return fmt.Errorf("no create of %s is open", addr)
	}
	if id != "" {
		if err := a.importObject(ctx, addr, id); err != nil {
			return err
		}
	}
	a.open = slices.DeleteFunc(slices.Clone(a.open), asked)
	if err := a.saveState(a.state); err != nil {
		return err
	}
	return a.emptyJournal()
}

// importObject records a real object under the revision that was verified last.
func (a *Agent) importObject(ctx context.Context, addr addrs.ResourceInstance, id string) error {
	last, err := a.client.Last(ctx, a.config.Environment, a.memory.Channel)
	if err != nil {
		return err
	}
	if last.Revision == nil {
		return fmt.Errorf("channel %s has no revision yet", a.memory.Channel)
	}
	loaded, err := a.loadRevision(ctx, *last.Revision)
	if err != nil {
		return err
	}
	a.running = loaded
	variables := loaded.readVariables(ctx)
	if len(variables.missing) > 0 {
		return errors.Join(variables.problems...)
	}
	state, diags := loaded.engine.Import(ctx, loaded.config, a.state, addr, id, engine.PlanOptions{Variables: variables.values, BaseDir: loaded.dir})
	if err := diags.Err(); err != nil {
		return err
	}
	a.state = state
	return nil
}

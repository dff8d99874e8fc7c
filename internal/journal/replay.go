package journal

import (
	"fmt"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/states"
)

// Replay brings a state up to date with a journal's results and returns the
// intents that have none: calls of which nobody knows how they ended.
func Replay(state *states.State, entries []Entry) (open []Intent, err error) {
	pending := map[uint64]Intent{}
	var order []uint64
	for _, e := range entries {
		if e.Intent != nil {
			pending[e.Intent.ID] = *e.Intent
			order = append(order, e.Intent.ID)
			continue
		}
		delete(pending, e.Result.ID)
		if err := record(state, e.Result); err != nil {
			return nil, err
		}
	}
	for _, id := range order {
		if intent, ok := pending[id]; ok {
			open = append(open, intent)
		}
	}
	return open, nil
}

func record(state *states.State, r *Result) error {
	addr, diags := addrs.ParseResourceInstance(r.Address)
	if diags.HasErrors() {
		return fmt.Errorf("a result in the journal names no resource instance: %w", diags.Err())
	}
	provider, diags := addrs.ParseProviderConfig(r.Provider)
	if diags.HasErrors() {
		return fmt.Errorf("a result in the journal names no provider: %w", diags.Err())
	}
	if r.Deposed != "" {
		state.SetDeposed(addr, r.Deposed, provider, r.Object)
	} else {
		state.SetObject(addr, provider, r.Object)
	}
	return nil
}

package journal

import (
	"fmt"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/states"
)

// Replay brings a state up to date with a journal's results and returns the
// intents that have none: calls of which nobody knows how they ended. An entry
// may come twice. An intent for an object was begun after all earlier ones for it
// were settled, so that these are closed too.
func Replay(state *states.State, entries []Entry) (open []Intent, err error) {
	type object struct {
		address, deposed string
		absent           uint64 // each that may still appear stays beside what was tried after it
	}
	pending := map[object]Intent{}
	var order []object
	for _, e := range entries {
		if e.Intent != nil {
			at := object{e.Intent.Address, e.Intent.Deposed, 0}
			if !e.Intent.Absent.IsZero() {
				at.absent = e.Intent.ID
			}
			pending[at] = *e.Intent
			order = append(order, at)
			continue
		}
		at := object{e.Result.Address, e.Result.Deposed, 0}
		if intent, ok := pending[at]; ok && intent.ID == e.Result.ID {
			delete(pending, at)
		}
		if err := record(state, e.Result); err != nil {
			return nil, err
		}
	}
	for _, at := range order {
		if intent, ok := pending[at]; ok {
			open = append(open, intent)
			delete(pending, at)
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

// Split tells the intents that are to be settled from those of creates that were not there
// when somebody looked.
func Split(intents []Intent) (open, absent []Intent) {
	for _, i := range intents {
		if i.Absent.IsZero() {
			open = append(open, i)
		} else {
			absent = append(absent, i)
		}
	}
	return open, absent
}

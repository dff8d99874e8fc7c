package repository

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
)

// Clicks reads what some Slack users have clicked about a subject, as the environment's
// agents with a Slack app have signed it. Some of what others have clicked is there too,
// since its numbers are used: at most [MaxDoubtful] of each agent, so that many hide nothing.
func Clicks(ctx context.Context, store objstore.Store, state *State, subject string, users []string) ([]control.Click, error) {
	if len(users) == 0 {
		return nil, nil
	}
	var out []control.Click
	for _, name := range slices.Sorted(maps.Keys(state.Agents)) {
		relay := state.Agents[name]
		if !relay.HasSlackApp() {
			continue
		}
		clicks, err := clicksAt(ctx, store, relay, subject, users)
		if err != nil {
			return nil, err
		}
		out = append(out, clicks...)
	}
	return out, nil
}

// clicksAt reads what one agent has received.
func clicksAt(ctx context.Context, store objstore.Store, relay control.Agent, subject string, users []string) ([]control.Click, error) {
	var keys []string
	others := 0
	for info, err := range store.List(ctx, control.ClickPrefix(relay.Environment, relay.Name, subject)) {
		if err != nil {
			return nil, fmt.Errorf("list clicks: %w", err)
		}
		_, user, ok := control.ParseClickKey(info.Key)
		if ok && !slices.Contains(users, user) {
			others++
			ok = others <= MaxDoubtful
		}
		if ok {
			keys = append(keys, info.Key)
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	reports, err := OpenReports(ctx, store, relay)
	if errors.Is(err, ErrNotEnrolled) || errors.Is(err, ErrNotBelieved) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []control.Click
	for _, key := range keys {
		click, err := reports.click(ctx, key)
		if errors.Is(err, ErrNotBelieved) || errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, click)
	}
	return out, nil
}

// click reads a click that the agent has received.
func (r *Reports) click(ctx context.Context, key string) (control.Click, error) {
	object, err := getReport(ctx, r.store, key)
	if errors.Is(err, objstore.ErrNotExist) {
		return control.Click{}, fmt.Errorf("%s: %w", key, ErrNotFound)
	}
	if err != nil {
		return control.Click{}, err
	}
	click, err := control.Open[control.Click](object.Data, r.key)
	if err == nil {
		err = r.isOurs(click.Environment, click.Relay)
	}
	if err == nil && click.Key() != key {
		err = errors.New("it was signed under another name")
	}
	if err != nil {
		return control.Click{}, notBelieved(key, err)
	}
	return click, nil
}

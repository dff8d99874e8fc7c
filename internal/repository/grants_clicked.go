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

const (
	// maxClickedGrants bounds the grants of which what one agent received is read: the
	// newest, whose names are the last.
	maxClickedGrants = 100
	// maxClicksOfGrant bounds what one agent received about one grant.
	maxClicksOfGrant = 100
)

// ClickedGrants are the files of what people did about grants in Slack, as it was read and
// verified before.
func ClickedGrants(clicks []control.GrantClick) GrantFiles {
	out := GrantFiles{}
	for i := range clicks {
		if clicks[i].Validate() == nil {
			out[clicks[i].Grant] = append(out[clicks[i].Grant], SignedFile{Key: clicks[i].Key(), Click: &clicks[i]})
		}
	}
	return out
}

// clickedGrants reads what people did about grants in Slack, or with an ID about one of
// them, as the environment's agents with a Slack app have signed it. Users who are nobody's
// approver are left out.
func clickedGrants(ctx context.Context, store objstore.Store, state *State, id string) (GrantFiles, error) {
	var users []string
	for _, policy := range state.Policies {
		users = append(users, policy.SlackUserIDs()...)
	}
	out := GrantFiles{}
	if len(users) == 0 {
		return out, nil
	}
	for _, name := range slices.Sorted(maps.Keys(state.Agents)) {
		relay := state.Agents[name]
		if !relay.HasSlackApp() {
			continue
		}
		files, err := clickedAt(ctx, store, relay, id, users)
		if err != nil {
			return nil, err
		}
		out = out.With(files)
	}
	return out, nil
}

// clickedAt reads what one agent has received.
func clickedAt(ctx context.Context, store objstore.Store, relay control.Agent, id string, users []string) (GrantFiles, error) {
	keys, err := clickedKeys(ctx, store, relay, id, users)
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	reports, err := OpenReports(ctx, store, relay)
	if errors.Is(err, ErrNotEnrolled) || errors.Is(err, ErrNotBelieved) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := GrantFiles{}
	for _, key := range keys {
		file, err := reports.grantClick(ctx, key)
		if errors.Is(err, ErrNotBelieved) || errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out[file.Click.Grant] = append(out[file.Click.Grant], file)
	}
	return out, nil
}

// clickedKeys lists what is read of what one agent has received.
func clickedKeys(ctx context.Context, store objstore.Store, relay control.Agent, id string, users []string) ([]string, error) {
	prefix := control.GrantClicksPrefix(relay.Environment, relay.Name)
	if id != "" {
		prefix += id + "/"
	}
	byGrant := map[string][]string{}
	for info, err := range store.List(ctx, prefix) {
		if err != nil {
			return nil, fmt.Errorf("list what was clicked about grants: %w", err)
		}
		grant, user, ok := control.ParseGrantClickKey(info.Key)
		if !ok || !slices.Contains(users, user) || len(byGrant[grant]) >= maxClicksOfGrant {
			continue
		}
		byGrant[grant] = append(byGrant[grant], info.Key)
		if len(byGrant) > maxClickedGrants {
			delete(byGrant, slices.Min(slices.Collect(maps.Keys(byGrant))))
		}
	}
	var out []string
	for _, grant := range slices.Sorted(maps.Keys(byGrant)) {
		out = append(out, byGrant[grant]...)
	}
	return out, nil
}

// grantClick reads what the agent has received about a grant.
func (r *Reports) grantClick(ctx context.Context, key string) (SignedFile, error) {
	object, err := getReport(ctx, r.store, key)
	if errors.Is(err, objstore.ErrNotExist) {
		return SignedFile{}, fmt.Errorf("%s: %w", key, ErrNotFound)
	}
	if err != nil {
		return SignedFile{}, err
	}
	click, err := control.Open[control.GrantClick](object.Data, r.key)
	if err == nil {
		err = r.isOurs(click.Environment, click.Relay)
	}
	if err == nil && click.Key() != key {
		err = errors.New("it was signed under another name")
	}
	if err != nil {
		return SignedFile{}, notBelieved(key, err)
	}
	return SignedFile{Key: key, Data: object.Data, Click: &click}, nil
}

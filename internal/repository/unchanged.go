package repository

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// verified is what the last update of this process came to. While root and timestamp
// stay the same, everything that was read under them does, and none of it is read
// or verified again.
type verified struct {
	environment, channel string
	from                 string
	rootVersion          int64
	timestamp            []byte
	state                *State
}

// unchanged returns the state of the last update if the store still says the same,
// the client's folder still holds it, and none of it has ended. Nil means that it
// has to be found out.
func (c *Client) unchanged(ctx context.Context, store objstore.Store, now time.Time, environment, channel string) *State {
	last := c.verified
	if last == nil || last.environment != environment || last.channel != channel || last.from != store.URL() || !now.Before(last.state.Expires.At) {
		return nil
	}
	_, err := fetch(ctx, store, versionedFile(last.rootVersion+1, trust.RoleRoot), maxRoot)
	if !errors.Is(err, objstore.ErrNotExist) && !errors.Is(err, objstore.ErrDenied) {
		return nil
	}
	object, err := fetch(ctx, store, timestampFile, maxTimestamp)
	if err != nil || !bytes.Equal(object.Data, last.timestamp) || !bytes.Equal(c.cache.get(ctx, timestampKey, maxTimestamp), last.timestamp) {
		return nil
	}
	again := *last.state
	return &again
}

// remember keeps what an update came to.
func (c *Client) remember(u *update) {
	state := *u.state
	c.verified = &verified{u.environment, u.channel, state.From, u.v.RootVersion(), u.kept.Timestamp, &state}
}

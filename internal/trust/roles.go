package trust

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/theupdateframework/go-tuf/v2/metadata"
)

// The roles that every repository has.
const (
	RoleRoot      = metadata.ROOT
	RoleTargets   = metadata.TARGETS
	RoleSnapshot  = metadata.SNAPSHOT
	RoleTimestamp = metadata.TIMESTAMP
)

// Prefixes of the delegated roles' names.
const (
	environmentRole = "env-"
	channelRole     = "channel-"
)

// EnvironmentRole names the role that signs an environment's control documents.
func EnvironmentRole(environment string) string { return environmentRole + environment }

// ChannelRole names the role that signs a channel's revisions.
func ChannelRole(channel string) string { return channelRole + channel }

// EnvironmentOf returns the environment whose role this is.
func EnvironmentOf(role string) (string, bool) { return strings.CutPrefix(role, environmentRole) }

// ChannelOf returns the channel whose role this is.
func ChannelOf(role string) (string, bool) { return strings.CutPrefix(role, channelRole) }

// pathsOf is what a delegated role may sign. A pattern matches names with as many
// segments as it has.
func pathsOf(role string) []string {
	if environment, ok := EnvironmentOf(role); ok {
		return []string{"environments/" + environment + "/*/*"}
	}
	if channel, ok := ChannelOf(role); ok {
		return []string{"channels/" + channel + "/*"}
	}
	return nil
}

// RoleSpec says who signs for a role and for how long a signature is good.
type RoleSpec struct {
	Keys []PublicKey
	// Threshold is how many of the keys must sign.
	Threshold int
	// Expiry is the time between a signature and its end, in whole seconds.
	Expiry time.Duration
}

// maxExpiry keeps every expiry within what a date can say.
const maxExpiry = 100 * 366 * 24 * time.Hour

// Validate tells whether the threshold can be met.
func (s RoleSpec) Validate() error {
	switch {
	case len(s.Keys) == 0:
		return errors.New("it needs at least one key")
	case len(s.Keys) > MaxKeys:
		return fmt.Errorf("it has %d keys, more than %d", len(s.Keys), MaxKeys)
	case s.Threshold < 1 || s.Threshold > len(s.Keys):
		return fmt.Errorf("its threshold is %d, but it has %d keys", s.Threshold, len(s.Keys))
	case s.Expiry < time.Second || s.Expiry > maxExpiry || s.Expiry%time.Second != 0:
		return fmt.Errorf("its expiry is %s; it must be whole seconds, at least one and at most a hundred years", s.Expiry)
	}
	for i, key := range s.Keys {
		if slices.Contains(s.Keys[:i], key) {
			return fmt.Errorf("it has the key %s twice", key)
		}
	}
	return nil
}

// Equal tells whether two specs mean the same; the order of keys means nothing.
func (s RoleSpec) Equal(other RoleSpec) bool {
	if s.Threshold != other.Threshold || s.Expiry != other.Expiry || len(s.Keys) != len(other.Keys) {
		return false
	}
	return !slices.ContainsFunc(s.Keys, func(key PublicKey) bool { return !slices.Contains(other.Keys, key) })
}

// MaxKeys bounds a role's keys: each costs a signature check.
const MaxKeys = 64

// expiryField holds [RoleSpec.Expiry] in signed metadata, so that whoever signs
// next knows it. TUF lets a role carry fields of one's own.
const expiryField = "x-towline-expiry"

// defaultExpiry is for metadata of other tools, which have no such field.
const defaultExpiry = 365 * 24 * time.Hour

func expiryOf(fields map[string]any) time.Duration {
	text, _ := fields[expiryField].(string)
	expiry, err := time.ParseDuration(text)
	if err != nil || expiry < time.Second || expiry > maxExpiry {
		return defaultExpiry
	}
	return expiry.Truncate(time.Second)
}

func specOf(keys map[string]*metadata.Key, ids []string, threshold int, fields map[string]any) RoleSpec {
	spec := RoleSpec{Threshold: threshold, Expiry: expiryOf(fields)}
	for _, id := range ids {
		key, ok := keys[id]
		if !ok {
			continue
		}
		if public, err := publicOf(key); err == nil {
			spec.Keys = append(spec.Keys, public)
		}
	}
	return spec
}

// MaxVersion is the highest version that is believed. A publication a second takes
// thirty thousand years to reach it.
const MaxVersion = 1 << 40

// Delegation is a delegated role as the targets role declares it.
type Delegation struct {
	Role string
	RoleSpec
}

// With is the spec with keys added and others removed, and with another threshold
// unless that is 0.
func (s RoleSpec) With(add, remove []PublicKey, threshold int) RoleSpec {
	s.Keys = slices.DeleteFunc(slices.Clone(s.Keys), func(key PublicKey) bool { return slices.Contains(remove, key) })
	for _, key := range add {
		if !slices.Contains(s.Keys, key) {
			s.Keys = append(s.Keys, key)
		}
	}
	if threshold != 0 {
		s.Threshold = threshold
	}
	return s
}

// Union is a spec under which signatures made for either hold: all keys of both,
// and the lower threshold. It stands only while one replaces the other.
func (s RoleSpec) Union(other RoleSpec) RoleSpec {
	union := s.With(other.Keys, nil, min(s.Threshold, other.Threshold))
	union.Expiry = other.Expiry
	return union
}

// Ending is the time until which a role's metadata is good.
type Ending struct {
	Role string
	At   time.Time
	// Lifetime is the time for which a signature of the role is good.
	Lifetime time.Duration
}

// soonShare is the share of the lifetime that is left when people are told: enough to
// find whoever has the keys, and not so much that they have to hear it for years.
const soonShare = 10

// Soon tells whether little of the lifetime is left, or nothing.
func (e Ending) Soon(now time.Time) bool { return e.At.Sub(now) < e.Lifetime/soonShare }

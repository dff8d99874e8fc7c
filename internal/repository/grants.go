package repository

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
)

// maxGrants bounds the grants of one environment that are read; grants are rare,
// and ended ones may be removed.
const maxGrants = 1000

// maxGrantFiles bounds the approvals and closures of one grant.
const maxGrantFiles = 100

// Grants reads the environment's break-glass grants and verifies each under its
// policy. What does not hold, anybody's unsigned word, is left out: it grants nothing.
func Grants(ctx context.Context, store objstore.Store, environment string, policies map[string]control.BreakGlassPolicy, now time.Time) ([]control.Grant, error) {
	files, err := grantKeys(ctx, store, environment)
	if err != nil {
		return nil, err
	}
	var out []control.Grant
	for _, id := range sortedIDs(files) {
		grant, err := readGrant(ctx, store, environment, id, files[id], policies, now)
		switch {
		case errors.Is(err, errNoGrant):
		case err != nil:
			return nil, err
		default:
			out = append(out, grant)
		}
	}
	return out, nil
}

// errNoGrant: the files do not make a valid grant.
var errNoGrant = errors.New("not a valid grant")

// grantKeys lists the files of each grant.
func grantKeys(ctx context.Context, store objstore.Store, environment string) (map[string][]string, error) {
	prefix := control.GrantsPrefix(environment)
	files := map[string][]string{}
	for info, err := range store.List(ctx, prefix) {
		if err != nil {
			return nil, fmt.Errorf("list grants of %s: %w", environment, err)
		}
		id, _, ok := strings.Cut(strings.TrimPrefix(info.Key, prefix), "/")
		if !ok || len(files[id]) >= maxGrantFiles {
			continue
		}
		if files[id] = append(files[id], info.Key); len(files) > maxGrants {
			return nil, fmt.Errorf("list grants of %s: there are more than %d; remove ended ones", environment, maxGrants)
		}
	}
	return files, nil
}

func sortedIDs(files map[string][]string) []string {
	ids := make([]string, 0, len(files))
	for id := range files {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// readGrant reads and verifies one grant.
func readGrant(ctx context.Context, store objstore.Store, environment, id string, keys []string, policies map[string]control.BreakGlassPolicy, now time.Time) (control.Grant, error) {
	var files control.GrantFiles
	for _, key := range keys {
		object, err := store.Get(ctx, key, control.MaxDocument)
		if errors.Is(err, objstore.ErrNotExist) || errors.Is(err, objstore.ErrTooLarge) {
			continue
		}
		if err != nil {
			return control.Grant{}, fmt.Errorf("read grant %s: %w", id, err)
		}
		switch {
		case key == control.GrantRequestKey(environment, id):
			files.Request = object.Data
		case strings.Contains(key, "/closures/"):
			files.Closures = append(files.Closures, object.Data)
		default:
			files.Approvals = append(files.Approvals, object.Data)
		}
	}
	request, err := control.InspectGrant(files.Request)
	if err != nil || request.ID != id || request.Environment != environment {
		return control.Grant{}, errNoGrant
	}
	policy, ok := policies[request.Policy]
	if !ok {
		return control.Grant{}, errNoGrant
	}
	grant, err := control.VerifyGrant(policy, files, now)
	if err != nil {
		return control.Grant{}, errNoGrant
	}
	return grant, nil
}

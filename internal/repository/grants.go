package repository

import (
	"context"
	"errors"
	"fmt"
	"maps"
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

// GrantRecord is what the store holds of one grant, and what it comes to.
type GrantRecord struct {
	ID    string
	Files control.GrantFiles
	// Grant is what the files grant. It is zero if Refusal says why they grant nothing.
	Grant   control.Grant
	Refusal error
}

// Grants reads the environment's break-glass grants and verifies each under its
// policy. What does not hold, anybody's unsigned word, is left out: it grants nothing.
func Grants(ctx context.Context, store objstore.Store, environment string, policies map[string]control.BreakGlassPolicy, now time.Time) ([]control.Grant, error) {
	records, err := GrantRecords(ctx, store, environment, policies, now)
	if err != nil {
		return nil, err
	}
	var out []control.Grant
	for _, record := range records {
		if record.Refusal == nil {
			out = append(out, record.Grant)
		}
	}
	return out, nil
}

// GrantRecords is [Grants] with what does not hold, and why it does not.
func GrantRecords(ctx context.Context, store objstore.Store, environment string, policies map[string]control.BreakGlassPolicy, now time.Time) ([]GrantRecord, error) {
	files, err := grantKeys(ctx, store, control.GrantsPrefix(environment), environment)
	if err != nil {
		return nil, err
	}
	out := make([]GrantRecord, 0, len(files))
	for _, id := range slices.Sorted(maps.Keys(files)) {
		record, err := readGrant(ctx, store, environment, id, files[id], policies, now)
		if err != nil {
			return nil, err
		}
		out = append(out, record)
	}
	return out, nil
}

// ReadGrant reads one grant; [ErrNotFound] if the store holds nothing of it.
func ReadGrant(ctx context.Context, store objstore.Store, environment, id string, policies map[string]control.BreakGlassPolicy, now time.Time) (GrantRecord, error) {
	if err := control.ValidateName(id); err != nil {
		return GrantRecord{}, fmt.Errorf("read grant %q: its name %w", id, err)
	}
	files, err := grantKeys(ctx, store, control.GrantPrefix(environment, id), environment)
	if err != nil {
		return GrantRecord{}, err
	}
	if len(files[id]) == 0 {
		return GrantRecord{}, fmt.Errorf("read grant %s: %w", id, ErrNotFound)
	}
	return readGrant(ctx, store, environment, id, files[id], policies, now)
}

// grantKeys lists the files of each grant below a prefix.
func grantKeys(ctx context.Context, store objstore.Store, prefix, environment string) (map[string][]string, error) {
	files := map[string][]string{}
	for info, err := range store.List(ctx, prefix) {
		if err != nil {
			return nil, fmt.Errorf("list grants of %s: %w", environment, err)
		}
		id, _, ok := strings.Cut(strings.TrimPrefix(info.Key, control.GrantsPrefix(environment)), "/")
		if !ok || len(files[id]) >= maxGrantFiles {
			continue
		}
		if files[id] = append(files[id], info.Key); len(files) > maxGrants {
			return nil, fmt.Errorf("list grants of %s: there are more than %d; remove ended ones", environment, maxGrants)
		}
	}
	return files, nil
}

// readGrant reads and verifies one grant.
func readGrant(ctx context.Context, store objstore.Store, environment, id string, keys []string, policies map[string]control.BreakGlassPolicy, now time.Time) (GrantRecord, error) {
	record := GrantRecord{ID: id}
	for _, key := range keys {
		object, err := store.Get(ctx, key, control.MaxDocument)
		if errors.Is(err, objstore.ErrNotExist) || errors.Is(err, objstore.ErrTooLarge) {
			continue
		}
		if err != nil {
			return GrantRecord{}, fmt.Errorf("read grant %s: %w", id, err)
		}
		switch {
		case key == control.GrantRequestKey(environment, id):
			record.Files.Request = object.Data
		case strings.Contains(key, "/extensions/"):
			record.Files.Extensions = append(record.Files.Extensions, object.Data)
		case strings.Contains(key, "/closures/"):
			record.Files.Closures = append(record.Files.Closures, object.Data)
		default:
			record.Files.Approvals = append(record.Files.Approvals, object.Data)
		}
	}
	record.Grant, record.Refusal = judgeGrant(environment, id, record.Files, policies, now)
	return record, nil
}

// judgeGrant finds the policy that a request names and asks it.
func judgeGrant(environment, id string, files control.GrantFiles, policies map[string]control.BreakGlassPolicy, now time.Time) (control.Grant, error) {
	request, err := control.InspectGrant(files.Request)
	if err != nil {
		return control.Grant{}, err
	}
	if request.ID != id || request.Environment != environment {
		return control.Grant{}, fmt.Errorf("%w: its request says that it is %s/%s", control.ErrMalformed, request.Environment, request.ID)
	}
	policy, ok := policies[request.Policy]
	if !ok {
		return control.Grant{}, fmt.Errorf("%w: the environment declares no policy %s", control.ErrGrantRefused, request.Policy)
	}
	return control.VerifyGrant(policy, files, now)
}

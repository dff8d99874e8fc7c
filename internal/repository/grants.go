package repository

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
)

// maxGrants bounds the grants of one environment that are read; grants are rare,
// and ended ones may be removed.
const maxGrants = 1000

// maxGrantFiles bounds the approvals, extensions and closures of one grant.
const maxGrantFiles = 100

// SignedFile is what a person has signed, as a store or an agent's machine holds it.
type SignedFile struct {
	Key  string
	Data []byte
	// Click is what a person did in Slack, of a file that the agent that received it has
	// signed, whose signature held when it was read. Nil of all other files.
	Click *control.GrantClick
}

// GrantFiles are such files by grant. Two may have the same key, where a store and a
// machine differ.
type GrantFiles map[string][]SignedFile

// GrantRecord is what is there of one grant, and what it comes to.
type GrantRecord struct {
	ID    string
	Files control.GrantFiles
	// Grant is what the files grant. It is zero if Refusal says why they grant nothing.
	Grant   control.Grant
	Refusal error
}

// ReadGrants reads the files of an environment's grants from its store, and what people did
// about them in Slack. Those in other names than of the policies' approvers count for
// nothing and are not read, so that nobody hides a file among many.
func ReadGrants(ctx context.Context, store objstore.Store, state *State) (GrantFiles, error) {
	files, err := readGrants(ctx, store, state.Environment, control.GrantsPrefix(state.Environment), state.Policies)
	if err != nil {
		return nil, err
	}
	clicked, err := clickedGrants(ctx, store, state, "")
	return files.With(clicked), err
}

// ReadGrant is [ReadGrants] for one grant.
func ReadGrant(ctx context.Context, store objstore.Store, state *State, id string) (GrantFiles, error) {
	if err := control.ValidateName(id); err != nil {
		return nil, fmt.Errorf("read grant %q: its name %w", id, err)
	}
	files, err := readGrants(ctx, store, state.Environment, control.GrantPrefix(state.Environment, id), state.Policies)
	if err != nil {
		return nil, err
	}
	clicked, err := clickedGrants(ctx, store, state, id)
	return files.With(clicked), err
}

func readGrants(ctx context.Context, store objstore.Store, environment, prefix string, policies map[string]control.BreakGlassPolicy) (GrantFiles, error) {
	keys, err := grantKeys(ctx, store, prefix, environment, policies)
	if err != nil {
		return nil, err
	}
	files := GrantFiles{}
	for _, id := range slices.Sorted(maps.Keys(keys)) {
		for _, key := range keys[id] {
			object, err := store.Get(ctx, key, control.MaxDocument)
			if errors.Is(err, objstore.ErrNotExist) || errors.Is(err, objstore.ErrTooLarge) {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("read grant %s: %w", id, err)
			}
			files[id] = append(files[id], SignedFile{Key: key, Data: object.Data})
		}
	}
	return files, nil
}

// grantKeys lists the files of each grant below a prefix.
func grantKeys(ctx context.Context, store objstore.Store, prefix, environment string, policies map[string]control.BreakGlassPolicy) (map[string][]string, error) {
	keys := map[string][]string{}
	for info, err := range store.List(ctx, prefix) {
		if err != nil {
			return nil, fmt.Errorf("list grants of %s: %w", environment, err)
		}
		id, signer, ok := control.ParseGrantKey(environment, info.Key)
		if !ok || len(keys[id]) >= maxGrantFiles || signer != "" && !someApprover(policies, signer) {
			continue
		}
		if keys[id] = append(keys[id], info.Key); len(keys) > maxGrants {
			return nil, fmt.Errorf("list grants of %s: there are more than %d; remove ended ones", environment, maxGrants)
		}
	}
	for id := range keys { // a request is read however many extensions come before it
		if key := control.GrantRequestKey(environment, id); !slices.Contains(keys[id], key) {
			keys[id] = append(keys[id], key)
		}
	}
	return keys, nil
}

func someApprover(policies map[string]control.BreakGlassPolicy, signer string) bool {
	for _, policy := range policies {
		if policy.Approves(signer) {
			return true
		}
	}
	return false
}

// With are the files of both, each once.
func (f GrantFiles) With(more GrantFiles) GrantFiles {
	out := GrantFiles{}
	for _, files := range []GrantFiles{f, more} {
		for id, list := range files {
			for _, file := range list {
				if !out.Holds(id, file) {
					out[id] = append(out[id], file)
				}
			}
		}
	}
	return out
}

// Holds tells whether a file is there, with the same content.
func (f GrantFiles) Holds(id string, file SignedFile) bool {
	return slices.ContainsFunc(f[id], func(there SignedFile) bool {
		return there.Key == file.Key && bytes.Equal(there.Data, file.Data)
	})
}

// HasKey tells whether any file has a key.
func (f GrantFiles) HasKey(key string) bool {
	for _, files := range f {
		if slices.ContainsFunc(files, func(there SignedFile) bool { return there.Key == key }) {
			return true
		}
	}
	return false
}

// Records judges each grant by the policy that it names. One that does not hold,
// anybody's unsigned word, grants nothing, and its record says why.
func (f GrantFiles) Records(environment string, policies map[string]control.BreakGlassPolicy, now time.Time) []GrantRecord {
	out := make([]GrantRecord, 0, len(f))
	for _, id := range slices.Sorted(maps.Keys(f)) {
		out = append(out, f.record(environment, id, policies, now))
	}
	return out
}

// Record judges one grant; [ErrNotFound] if nothing is there of it.
func (f GrantFiles) Record(environment, id string, policies map[string]control.BreakGlassPolicy, now time.Time) (GrantRecord, error) {
	if len(f[id]) == 0 {
		return GrantRecord{}, fmt.Errorf("read grant %s: %w", id, ErrNotFound)
	}
	return f.record(environment, id, policies, now), nil
}

// record judges a grant by the first request that holds: of two under one key, or in one
// name, one is somebody else's. What was signed comes before what was clicked.
func (f GrantFiles) record(environment, id string, policies map[string]control.BreakGlassPolicy, now time.Time) GrantRecord {
	var others control.GrantFiles
	var requests []control.GrantFiles
	var openings []control.GrantClick
	for _, file := range f[id] {
		switch {
		case file.Click != nil && file.Click.Verb == control.GrantOpens:
			openings = append(openings, *file.Click)
		case file.Click != nil:
			others.Clicks = append(others.Clicks, *file.Click)
		case file.Key == control.GrantRequestKey(environment, id):
			requests = append(requests, control.GrantFiles{Request: file.Data})
		default:
			others.Add(file.Key, file.Data)
		}
	}
	slices.SortFunc(openings, control.ByOpening)
	for i := range openings {
		requests = append(requests, control.GrantFiles{Opening: &openings[i]})
	}
	if len(requests) == 0 {
		requests = append(requests, control.GrantFiles{})
	}
	var out GrantRecord
	for i, request := range requests {
		record := GrantRecord{ID: id, Files: others}
		record.Files.Request, record.Files.Opening = request.Request, request.Opening
		record.Grant, record.Refusal = judgeGrant(environment, id, record.Files, policies, now)
		if i == 0 || record.Refusal == nil {
			out = record
		}
		if record.Refusal == nil {
			break
		}
	}
	return out
}

// judgeGrant finds the policy that a request names and asks it.
func judgeGrant(environment, id string, files control.GrantFiles, policies map[string]control.BreakGlassPolicy, now time.Time) (control.Grant, error) {
	request, err := files.Asked()
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

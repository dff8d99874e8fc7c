package engine

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"maps"
	"sync"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	ctymsgpack "github.com/zclconf/go-cty/cty/msgpack"

	"github.com/towline/terraform-provider-towline/internal/plans"
)

// functionResults notices functions of providers that give different results for
// the same arguments: a plan made with one result would be applied with another.
// It keeps digests under a key of its own, from which nobody can tell what the
// functions were called with. It is safe for concurrent use.
type functionResults struct {
	key []byte

	mu      sync.Mutex
	results map[string]string
}

// newFunctionResults goes on with what a plan kept, if anything.
func newFunctionResults(kept plans.FunctionResults) *functionResults {
	r := &functionResults{key: kept.Key, results: maps.Clone(kept.Results)}
	if len(r.key) == 0 {
		r.key = make([]byte, sha256.Size)
		_, _ = rand.Read(r.key) // never fails
	}
	if r.results == nil {
		r.results = map[string]string{}
	}
	return r
}

// errInconsistentFunction says neither what the function gave before nor now: it
// may be a secret.
var errInconsistentFunction = errors.New("provider function returned an inconsistent result: for the same arguments it gave something else before, which no function of a provider may")

// check compares a result with earlier ones of the same call. What is not known
// yet says nothing.
func (r *functionResults) check(fn callable, args []cty.Value, result cty.Value) error {
	if !result.IsWhollyKnown() {
		return nil
	}
	call := hmac.New(sha256.New, r.key)
	_, _ = fmt.Fprintf(call, "%s\x00%s\x00%d\x00", fn.provider, fn.name, len(args)) // a hash takes everything
	for _, arg := range args {
		if err := digest(call, arg); err != nil {
			return err
		}
	}
	given := hmac.New(sha256.New, r.key)
	if err := digest(given, result); err != nil {
		return err
	}
	id, now := sum(call), sum(given)
	r.mu.Lock()
	defer r.mu.Unlock()
	before, known := r.results[id]
	if known && before != now {
		return errInconsistentFunction
	}
	r.results[id] = now
	return nil
}

// digest adds a value with its type to a hash.
func digest(into hash.Hash, v cty.Value) error {
	ty, err := ctyjson.MarshalType(v.Type())
	if err != nil {
		return fmt.Errorf("encode type: %w", err)
	}
	raw, err := ctymsgpack.Marshal(v, v.Type())
	if err != nil {
		return fmt.Errorf("encode value: %w", err)
	}
	_, _ = fmt.Fprintf(into, "%d:%s%d:%s", len(ty), ty, len(raw), raw) // a hash takes everything
	return nil
}

func sum(h hash.Hash) string { return base64.RawStdEncoding.EncodeToString(h.Sum(nil)) }

// kept is what a plan keeps: nothing if no function was called.
func (r *functionResults) kept() plans.FunctionResults {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.results) == 0 {
		return plans.FunctionResults{}
	}
	return plans.FunctionResults{Key: r.key, Results: maps.Clone(r.results)}
}

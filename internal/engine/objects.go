package engine

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/objchange"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// decodeObject returns a recorded object's value under the current schema, from
// the provider the first time and from memory afterwards.
func decodeObject(ctx context.Context, client providers.Interface, addr addrs.ResourceInstance, schema *providers.ResourceSchema, obj *states.Object) (*states.Decoded, tfdiags.Diagnostics) {
	if known := obj.Decoded(); known != nil {
		return known, nil
	}
	if obj.SchemaVersion > schema.Version {
		return nil, tfdiags.New(tfdiags.Error, "Resource instance managed by newer provider version",
			fmt.Sprintf("The object of %s was recorded with schema version %d, but the provider in use knows versions up to %d only. Use a newer version of the provider.", addr, obj.SchemaVersion, schema.Version))
	}
	req := providers.UpgradeResourceStateRequest{TypeName: addr.Resource.Type, Version: obj.SchemaVersion, RawJSON: obj.AttrsJSON, RawFlatmap: obj.AttrsFlat}
	resp := client.UpgradeResourceState(ctx, req)
	if resp.Diagnostics.HasErrors() {
		return nil, resp.Diagnostics
	}
	if resp.UpgradedState != cty.NilVal && !resp.UpgradedState.IsWhollyKnown() {
		return nil, append(resp.Diagnostics, providerBug("Invalid resource state upgrade", addr.String(), "the upgraded object holds unknown values")...)
	}
	d := &states.Decoded{Value: resp.UpgradedState}
	obj.SetDecoded(d)
	return d, resp.Diagnostics
}

// decodeData returns a recorded data source result. Data sources have no upgrade.
func decodeData(schema *providers.ResourceSchema, obj *states.Object) (cty.Value, error) {
	if known := obj.Decoded(); known != nil {
		return known.Value, nil
	}
	return states.DecodeAttributes(obj.AttrsJSON, schema.Block.ImpliedType())
}

// objectMeta is what is recorded with a value.
type objectMeta struct {
	sensitive    []cty.Path
	private      []byte
	dependencies []string
	tainted      bool
	createFirst  bool
}

// newObject makes the record of a value, which must be wholly known and without marks.
func newObject(schema *providers.ResourceSchema, val cty.Value, encoded []byte, meta objectMeta) (*states.Object, error) {
	attrs, err := ctyjson.Marshal(val, schema.Block.ImpliedType())
	if err != nil {
		return nil, fmt.Errorf("encode object: %w", err)
	}
	obj := &states.Object{
		SchemaVersion: schema.Version, AttrsJSON: attrs, Sensitive: recordedSensitive(schema, val, meta.sensitive), Private: meta.private,
		Dependencies: meta.dependencies, Tainted: meta.tainted, CreateBeforeDestroy: meta.createFirst,
	}
	obj.SetDecoded(&states.Decoded{Value: val, Encoded: encoded})
	return obj, nil
}

// recordedSensitive joins the paths that the configuration marks with those that
// the schema does, each once: terraform takes one that is missing in a state for
// a change of the object.
func recordedSensitive(schema *providers.ResourceSchema, val cty.Value, config []cty.Path) []cty.Path {
	var out []cty.Path
	for _, path := range allSensitive(schema, val, config) {
		if !slices.ContainsFunc(out, path.Equals) {
			out = append(out, path)
		}
	}
	return out
}

// withMeta returns obj with other metadata, or obj itself if nothing differs.
func withMeta(obj *states.Object, dependencies []string, createFirst bool) *states.Object {
	if equalStrings(obj.Dependencies, dependencies) && obj.CreateBeforeDestroy == createFirst {
		return obj
	}
	out := copyObject(obj)
	out.Dependencies, out.CreateBeforeDestroy = dependencies, createFirst
	return out
}

// copyObject returns a record of the same object, to be changed before anyone sees it.
func copyObject(obj *states.Object) *states.Object {
	out := &states.Object{
		SchemaVersion: obj.SchemaVersion, AttrsJSON: obj.AttrsJSON, AttrsFlat: obj.AttrsFlat, Sensitive: obj.Sensitive,
		Private: obj.Private, Dependencies: obj.Dependencies, Tainted: obj.Tainted, CreateBeforeDestroy: obj.CreateBeforeDestroy,
	}
	if d := obj.Decoded(); d != nil {
		out.SetDecoded(d)
	}
	return out
}

// asTainted returns the record of an object that is to be replaced.
func asTainted(obj *states.Object) *states.Object {
	out := copyObject(obj)
	out.Tainted = true
	return out
}

func equalStrings(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	if len(a) > 0 && &a[0] == &b[0] {
		return true
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// readObject reads the real object behind a record. It returns the record itself
// if nothing differs and nil if the object is gone.
func readObject(ctx context.Context, client providers.Interface, addr addrs.ResourceInstance, schema *providers.ResourceSchema, obj *states.Object, prior *states.Decoded) (*states.Object, tfdiags.Diagnostics) {
	resp := client.ReadResource(ctx, providers.ReadResourceRequest{
		TypeName: addr.Resource.Type, PriorState: prior.Value, PriorEncoded: prior.Encoded, Private: obj.Private,
	})
	if resp.Diagnostics.HasErrors() {
		return nil, resp.Diagnostics
	}
	if resp.NewState == cty.NilVal || resp.NewState.IsNull() {
		return nil, resp.Diagnostics
	}
	samePrivate := bytes.Equal(resp.Private, obj.Private)
	if resp.Unchanged && samePrivate {
		return obj, resp.Diagnostics
	}
	val := resp.NewState
	encoded := resp.Encoded
	if !resp.Unchanged {
		normal := objchange.NormalizeObjectFromLegacySDK(val, schema.Block)
		if !normal.RawEquals(val) {
			encoded = nil // the bytes are of another value now
		}
		val = normal
	}
	if !val.IsWhollyKnown() {
		return nil, append(resp.Diagnostics, tfdiags.New(tfdiags.Error, "Provider produced invalid object",
			fmt.Sprintf("The provider returned an object with unknown values when it read %s. This is a bug in the provider; report it to its developers.", addr))...)
	}
	if val.RawEquals(prior.Value) {
		obj.SetDecoded(&states.Decoded{Value: prior.Value, Encoded: encoded})
		if samePrivate {
			return obj, resp.Diagnostics
		}
		val = prior.Value
	}
	out, err := newObject(schema, val, encoded, objectMeta{
		sensitive: obj.Sensitive, private: resp.Private, dependencies: obj.Dependencies,
		tainted: obj.Tainted, createFirst: obj.CreateBeforeDestroy,
	})
	if err != nil {
		return nil, append(resp.Diagnostics, tfdiags.FromError("Provider produced invalid object", err)...)
	}
	return out, resp.Diagnostics
}

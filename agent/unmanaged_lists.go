package agent

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// What a list block lists is compared by identity: the attributes by which its provider
// tells objects of the type apart. A state does not record identities, but an attribute
// of an identity has, as a rule, the name of the object's attribute that it stands for.
// Attributes that an import need not give, such as an account or a region, are compared
// where the object has them.

// compareListed adds what a list block lists and the agent does not manage.
func (r *round) compareListed(listed *plans.Listed, inventory control.Inventory, state *states.State) {
	if listed.Unknown {
		r.keepUnmanaged(listed.Addr)
		return
	}
	owned := ownedOf(state, listed)
	for _, found := range listed.Resources {
		id := listedID(found, inventory.ID)
		known, comparable := owned.has(found, id, attributeName.FindString(inventory.ID) == inventory.ID && inventory.ID != "")
		switch {
		case !comparable:
			r.diags = append(r.diags, incomparable(listed)...)
			r.keepUnmanaged(listed.Addr)
			return
		case !known:
			r.noteUnmanaged(listed.Addr, id, saidOf(found))
		}
	}
}

// keepUnmanaged keeps what was known of an inventory that could not be listed.
func (r *round) keepUnmanaged(inventory string) {
	for _, item := range r.agent.memory.Unmanaged {
		if item.Inventory == inventory {
			r.unmanaged = append(r.unmanaged, control.UnmanagedItem{Inventory: item.Inventory, ID: item.ID, Digest: item.Digest})
		}
	}
}

func incomparable(listed *plans.Listed) tfdiags.Diagnostics {
	return tfdiags.New(tfdiags.Warning, "Inventory cannot be compared", fmt.Sprintf(
		"What %s lists cannot be told from what is managed: objects of type %s are identified by %s, and managed ones have no such attributes. Set include_resource = true in the list block, or name the attribute of the identity that is their id in the inventory.",
		listed.Addr, listed.Type, strings.Join(listed.RequiredIdentity, ", "))).WithAddress(listed.Addr)
}

// attributeName finds the names of attributes in an inventory's id, which may join several.
var attributeName = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)

// listedID is what people are told of an object, and what they import it by: the
// attributes that the inventory names, or else all that identifies it.
func listedID(found providers.ListedResource, names string) string {
	complete := names != ""
	id := attributeName.ReplaceAllStringFunc(names, func(name string) string {
		for _, from := range []cty.Value{found.Identity, found.Resource} {
			if text, ok := comparableText(attribute(from, name)); ok {
				return text
			}
		}
		complete = false
		return ""
	})
	if complete {
		return id
	}
	vals := found.Identity.AsValueMap()
	var parts []string
	for name, val := range vals {
		text, ok := comparableText(val)
		switch {
		case ok && len(vals) == 1:
			return text
		case ok:
			parts = append(parts, name+"="+text)
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, ",")
}

// saidOf is all that a listing says of an object.
func saidOf(found providers.ListedResource) cty.Value {
	vals := []cty.Value{found.Identity, cty.StringVal(found.DisplayName)}
	if found.Resource != cty.NilVal {
		vals = append(vals, found.Resource)
	}
	return cty.TupleVal(vals)
}

// ownedObjects are the recorded objects that a listing may name.
type ownedObjects struct {
	required []string
	ids      map[string]bool
	// byKey finds objects by the required attributes of their identity.
	byKey map[string][]ownedObject
	// partial tells that some object lacks one of them.
	partial bool
}

// ownedObject gives the text of an attribute of a recorded object, if it has a value.
type ownedObject func(name string) (string, bool)

// ownedOf finds the objects of the type and provider of a listing.
func ownedOf(state *states.State, listed *plans.Listed) *ownedObjects {
	out := &ownedObjects{required: listed.RequiredIdentity, ids: map[string]bool{}, byKey: map[string][]ownedObject{}}
	state.Each(func(addr addrs.ResourceInstance, r *states.Resource, inst *states.Instance) {
		if addr.Resource.Mode != addrs.Managed || addr.Resource.Type != listed.Type || r.Provider.Provider != listed.Provider {
			return
		}
		if inst.Current != nil {
			out.add(inst.Current)
		}
		for _, object := range inst.Deposed {
			out.add(object)
		}
	})
	return out
}

func (o *ownedObjects) add(object *states.Object) {
	if id := object.ID(); id != "" {
		o.ids[id] = true
	}
	owned := attributesOf(object)
	key, ok := identityKey(o.required, owned)
	if !ok {
		o.partial = true
		return
	}
	o.byKey[key] = append(o.byKey[key], owned)
}

// has tells whether an object is among the recorded ones, and whether that can be told.
// Named tells that id is what recorded objects have as theirs, as somebody says.
func (o *ownedObjects) has(found providers.ListedResource, id string, named bool) (known, comparable bool) {
	whole, byID := comparableText(attribute(found.Resource, "id"))
	if o.ids[id] || byID && o.ids[whole] {
		return true, true
	}
	key, ok := identityKey(o.required, func(name string) (string, bool) { return comparableText(attribute(found.Identity, name)) })
	if ok && slices.ContainsFunc(o.byKey[key], func(owned ownedObject) bool { return sameIdentity(found.Identity, owned) }) {
		return true, true
	}
	return false, ok && !o.partial || byID || named
}

// sameIdentity compares the attributes that both sides have.
func sameIdentity(identity cty.Value, owned ownedObject) bool {
	for name, val := range identity.AsValueMap() {
		want, ok := comparableText(val)
		if got, has := owned(name); ok && has && got != want {
			return false
		}
	}
	return true
}

// identityKey joins the attributes without which no object is found.
func identityKey(required []string, of ownedObject) (string, bool) {
	parts := make([]string, 0, len(required))
	for _, name := range required {
		text, ok := of(name)
		if !ok {
			return "", false
		}
		parts = append(parts, fmt.Sprintf("%q", text))
	}
	return strings.Join(parts, ","), len(parts) > 0
}

// attributesOf reads a recorded object, decoded or not.
func attributesOf(object *states.Object) ownedObject {
	if d := object.Decoded(); d != nil {
		return func(name string) (string, bool) { return comparableText(attribute(d.Value, name)) }
	}
	var attrs map[string]json.RawMessage
	if json.Unmarshal(object.AttrsJSON, &attrs) != nil {
		return func(string) (string, bool) { return "", false }
	}
	return func(name string) (string, bool) {
		ty, err := ctyjson.ImpliedType(attrs[name])
		if err != nil {
			return "", false
		}
		val, err := ctyjson.Unmarshal(attrs[name], ty)
		if err != nil {
			return "", false
		}
		return comparableText(val)
	}
}

// comparableText is a value as text; it has none if it is null or not known.
func comparableText(v cty.Value) (string, bool) {
	if v == cty.NilVal || v.IsNull() || !v.IsWhollyKnown() {
		return "", false
	}
	v, _ = v.UnmarkDeep()
	if text, err := convert.Convert(v, cty.String); err == nil {
		return text.AsString(), true
	}
	data, err := ctyjson.Marshal(v, v.Type())
	return string(data), err == nil
}

package adopt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
)

// Drift is what is to be declared: the real value at one path of an object, or that
// there is no object.
type Drift struct {
	Addr addrs.ResourceInstance
	// Path leads to the value: names and keys as strings, places in lists as ints.
	Path []any
	// Value is the real one. It is null where there is none.
	Value cty.Value
	// Sensitive values must not be written into configuration.
	Sensitive bool
	// Deleted tells that the object is gone; there is no path then.
	Deleted bool
	// lists are those that the path leads through, the outermost first.
	lists []list
}

// list is one on the way to a value. It may be a set, and then the places of its
// elements are those of the plan, not those of the configuration.
type list struct {
	// depth is how many steps of the path lead to the list.
	depth      int
	real, want []any
	sensitive  bool
}

// whole is the drift of a list that the path leads through.
func (d Drift) whole(l list) Drift {
	return Drift{Addr: d.Addr, Path: d.Path[:l.depth], Value: valueOf(l.real), Sensitive: l.sensitive}
}

// listAt is the list that so many steps of the path lead to, if a place in it is next.
func (d Drift) listAt(depth int) (list, bool) {
	at := slices.IndexFunc(d.lists, func(l list) bool { return l.depth == depth })
	if at < 0 {
		return list{}, false
	}
	return d.lists[at], true
}

// Name writes address and path as people do.
func (d Drift) Name() string {
	name := d.Addr.String()
	for i, step := range d.Path {
		switch step := step.(type) {
		case int:
			name += "[" + strconv.Itoa(step) + "]"
		case string:
			if i == 0 || isName(step) {
				name += "." + step
			} else {
				name += "[" + strconv.Quote(step) + "]"
			}
		}
	}
	return name
}

// planDoc is what is read of Terraform's plan JSON.
type planDoc struct {
	ResourceDrift   []changeDoc `json:"resource_drift"`
	ResourceChanges []changeDoc `json:"resource_changes"`
}

type changeDoc struct {
	Address string `json:"address"`
	Mode    string `json:"mode"`
	Deposed string `json:"deposed"`
	Change  struct {
		Actions         []string `json:"actions"`
		Before          any      `json:"before"`
		After           any      `json:"after"`
		AfterUnknown    any      `json:"after_unknown"`
		BeforeSensitive any      `json:"before_sensitive"`
		AfterSensitive  any      `json:"after_sensitive"`
	} `json:"change"`
}

// Read finds in Terraform's plan JSON what drifted and would be changed back: the
// objects that are told of as drift, and of them what the plan would change.
func Read(plan []byte) ([]Drift, error) {
	decoder := json.NewDecoder(bytes.NewReader(plan))
	decoder.UseNumber()
	var doc planDoc
	if err := decoder.Decode(&doc); err != nil {
		return nil, fmt.Errorf("read plan: it is not Terraform's plan JSON: %w", err)
	}
	planned := map[string]changeDoc{}
	for _, c := range doc.ResourceChanges {
		if c.Mode == "managed" && c.Deposed == "" {
			planned[c.Address] = c
		}
	}
	var out []Drift
	for _, c := range doc.ResourceDrift {
		if c.Mode != "managed" || c.Deposed != "" {
			continue
		}
		addr, diags := addrs.ParseResourceInstance(c.Address)
		if diags.HasErrors() {
			return nil, fmt.Errorf("read plan: %w", diags.Err())
		}
		if slices.Contains(c.Change.Actions, "delete") {
			out = append(out, Drift{Addr: addr, Deleted: true})
			continue
		}
		if change, ok := planned[c.Address]; ok && slices.Equal(change.Change.Actions, []string{"update"}) {
			differ(change.Change.Before, change.Change.After, change.Change.AfterUnknown, both{change.Change.BeforeSensitive, change.Change.AfterSensitive}, way{}, func(to way, real any, sensitive bool) {
				out = append(out, Drift{Addr: addr, Path: slices.Clone(to.path), Value: valueOf(real), Sensitive: sensitive, lists: slices.Clone(to.lists)})
			})
		}
	}
	return out, nil
}

// both are the marks of the real value and of the planned one: what either calls
// sensitive is.
type both [2]any

func (b both) at(step any) both { return both{at(b[0], step), at(b[1], step)} }
func (b both) whole() bool      { return b[0] == true || b[1] == true }
func (b both) any() bool        { return isMarked(b[0]) || isMarked(b[1]) }

// way is the path to a value, and the lists on it.
type way struct {
	path  []any
	lists []list
}

func (w way) to(step any) way { return way{append(w.path, step), w.lists} }

func (w way) in(real, want []any, sensitive bool) way {
	return way{w.path, append(w.lists, list{len(w.path), real, want, sensitive})}
}

// differ visits where the real object and the planned one differ, as deep as both
// have the same shape.
func differ(real, want, unknown any, sensitive both, to way, visit func(to way, real any, sensitive bool)) {
	if unknown == true {
		return
	}
	realObject, okReal := real.(map[string]any)
	wantObject, okWant := want.(map[string]any)
	if okReal && okWant && !sensitive.whole() {
		keys := slices.Compact(slices.Sorted(slices.Values(append(slices.Collect(maps.Keys(realObject)), slices.Collect(maps.Keys(wantObject))...))))
		for _, key := range keys {
			differ(realObject[key], wantObject[key], at(unknown, key), sensitive.at(key), to.to(key), visit)
		}
		return
	}
	realList, okReal := real.([]any)
	wantList, okWant := want.([]any)
	if okReal && okWant && len(realList) == len(wantList) && !sensitive.whole() {
		inner := to.in(realList, wantList, sensitive.any())
		for i := range realList {
			differ(realList[i], wantList[i], at(unknown, i), sensitive.at(i), inner.to(i), visit)
		}
		return
	}
	if !equal(real, want) { // asked of leaves only: what is nested deeply is walked through once
		visit(to, real, sensitive.any())
	}
}

func equal(a, b any) bool {
	left, errLeft := json.Marshal(a)
	right, errRight := json.Marshal(b)
	return errLeft == nil && errRight == nil && bytes.Equal(left, right)
}

// at descends into marks, which have the shape of the value as far as there are any.
func at(marks any, step any) any {
	switch marks := marks.(type) {
	case bool:
		return marks
	case map[string]any:
		key, _ := step.(string)
		return marks[key]
	case []any:
		if i, ok := step.(int); ok && i < len(marks) {
			return marks[i]
		}
	}
	return nil
}

// isMarked tells whether anything inside is marked.
func isMarked(marks any) bool {
	switch marks := marks.(type) {
	case bool:
		return marks
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(marks)), isMarked)
	case []any:
		return slices.ContainsFunc(marks, isMarked)
	}
	return false
}

// valueOf is a JSON value as configuration would write it.
func valueOf(v any) cty.Value {
	switch v := v.(type) {
	case string:
		return cty.StringVal(v)
	case bool:
		return cty.BoolVal(v)
	case json.Number:
		if number, _, err := big.ParseFloat(v.String(), 10, 512, big.ToNearestEven); err == nil {
			return cty.NumberVal(number)
		}
	case []any:
		items := make([]cty.Value, len(v))
		for i, item := range v {
			items[i] = valueOf(item)
		}
		return cty.TupleVal(items)
	case map[string]any:
		attrs := make(map[string]cty.Value, len(v))
		for name, item := range v {
			attrs[name] = valueOf(item)
		}
		return cty.ObjectVal(attrs)
	}
	return cty.NullVal(cty.DynamicPseudoType)
}

package agent

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/gocty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/states"
)

// learnValue takes every text in a value.
func (s *Secrets) learnValue(val cty.Value) {
	if val == cty.NilVal {
		return
	}
	plain, _ := val.UnmarkDeep()
	_ = cty.Walk(plain, func(_ cty.Path, inner cty.Value) (bool, error) {
		if inner.Type() == cty.String && inner.IsKnown() && !inner.IsNull() {
			s.learn(inner.AsString())
		}
		return true, nil
	}) // its only error would be ours
}

// learnVariables takes the values of variables that are sensitive.
func (r *round) learnVariables() {
	for name, val := range r.variables.values {
		if v := r.revision.config.Module.Variables[name]; v != nil && (v.Sensitive || v.Ephemeral) {
			r.agent.secrets.learnValue(val)
		}
	}
}

// learnPlan takes what is sensitive in the objects of a plan, before and after.
// A plan that is given again has nothing new.
func (s *Secrets) learnPlan(plan *plans.Plan) {
	if len(plan.Changes) == 0 || len(plan.Changes) == len(s.last) && plan.Changes[0] == s.last[0] {
		return
	}
	s.last = plan.Changes
	for _, c := range plan.Changes {
		s.learnPaths(c.Before, c.BeforeSensitive)
		s.learnPaths(c.After, c.AfterSensitive)
	}
}

func (s *Secrets) learnPaths(val cty.Value, paths []cty.Path) {
	if val == cty.NilVal || len(paths) == 0 {
		return
	}
	for _, path := range paths {
		if inner, err := path.Apply(val); err == nil { // else it is null, or not there yet
			s.learnValue(inner)
		}
	}
}

// learnState takes what a state records as sensitive, before any provider is asked
// about it and tells of it.
func (s *Secrets) learnState(state *states.State) {
	state.Each(func(_ addrs.ResourceInstance, _ *states.Resource, inst *states.Instance) {
		objects := slices.Collect(maps.Values(inst.Deposed))
		if inst.Current != nil {
			objects = append(objects, inst.Current)
		}
		for _, obj := range objects {
			var attributes any
			if len(obj.Sensitive) == 0 || json.Unmarshal(obj.AttrsJSON, &attributes) != nil {
				continue
			}
			for _, path := range obj.Sensitive {
				s.learnJSON(inJSON(attributes, path))
			}
		}
	})
}

// inJSON finds what is at a path, nil if there is nothing.
func inJSON(val any, path cty.Path) any {
	for _, step := range path {
		switch step := step.(type) {
		case cty.GetAttrStep:
			object, _ := val.(map[string]any)
			val = object[step.Name]
		case cty.IndexStep:
			val = indexed(val, step.Key)
		}
	}
	return val
}

func indexed(val any, key cty.Value) any {
	switch inner := val.(type) {
	case map[string]any:
		if key.Type() == cty.String && key.IsKnown() && !key.IsNull() {
			return inner[key.AsString()]
		}
	case []any:
		var n int
		if gocty.FromCtyValue(key, &n) == nil && n >= 0 && n < len(inner) {
			return inner[n]
		}
		return val // of a set: all of it
	}
	return nil
}

// learnJSON takes every text in a value.
func (s *Secrets) learnJSON(val any) {
	switch val := val.(type) {
	case string:
		s.learn(val)
	case []any:
		for _, inner := range val {
			s.learnJSON(inner)
		}
	case map[string]any:
		for _, inner := range val {
			s.learnJSON(inner)
		}
	}
}

package planjson

import (
	"encoding/json"
	"fmt"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/towline/terraform-provider-towline/internal/lang"
	"github.com/towline/terraform-provider-towline/internal/plans"
)

type resourceChange struct {
	Address         string       `json:"address"`
	PreviousAddress string       `json:"previous_address,omitempty"`
	ModuleAddress   string       `json:"module_address,omitempty"`
	Mode            string       `json:"mode"`
	Type            string       `json:"type"`
	Name            string       `json:"name"`
	Index           any          `json:"index,omitempty"`
	ProviderName    string       `json:"provider_name"`
	Deposed         string       `json:"deposed,omitempty"`
	Change          changeDoc    `json:"change"`
	ActionReason    plans.Reason `json:"action_reason,omitempty"`
}

type changeDoc struct {
	Actions         []string        `json:"actions"`
	Before          json.RawMessage `json:"before"`
	After           json.RawMessage `json:"after,omitempty"`
	AfterUnknown    any             `json:"after_unknown"`
	BeforeSensitive any             `json:"before_sensitive"`
	AfterSensitive  any             `json:"after_sensitive"`
	ReplacePaths    [][]any         `json:"replace_paths,omitempty"`
	Importing       *importing      `json:"importing,omitempty"`
	GeneratedConfig string          `json:"generated_config,omitempty"`
}

// importing says which object was imported.
type importing struct {
	ID string `json:"id"`
}

// actions names an action as a list of what is done.
func actions(a plans.Action) []string {
	switch a {
	case plans.DeleteThenCreate:
		return []string{"delete", "create"}
	case plans.CreateThenDelete:
		return []string{"create", "delete"}
	default:
		return []string{string(a)}
	}
}

// changes encodes changes of resource instances.
func (e *encoder) changes(changes []*plans.Change) ([]resourceChange, error) {
	out := make([]resourceChange, 0, len(changes))
	for _, c := range changes {
		if _, err := e.schemas.resource(c.Provider.Provider, c.Addr.Resource); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Addr, err)
		}
		encoded, err := encodeChange(c)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Addr, err)
		}
		out = append(out, encoded)
	}
	return out, nil
}

func encodeChange(c *plans.Change) (resourceChange, error) {
	out := resourceChange{
		Address: c.Addr.String(), ModuleAddress: c.Addr.Module.String(), Mode: modeName(c.Addr.Resource.Mode),
		Type: c.Addr.Resource.Type, Name: c.Addr.Resource.Name, Index: index(c.Addr.Key),
		ProviderName: c.Provider.Provider.String(), Deposed: c.Deposed, ActionReason: c.Reason,
	}
	if !c.PrevAddr.Equal(c.Addr) {
		out.PreviousAddress = c.PrevAddr.String()
	}
	change, err := encodeValues(c.Before, c.After)
	if err != nil {
		return out, err
	}
	change.Actions = actions(c.Action)
	change.AfterUnknown = map[string]any{}
	if !c.After.IsWhollyKnown() {
		change.AfterUnknown = unknownShadow(c.After)
	}
	change.BeforeSensitive = sensitiveShadow(lang.MarkPaths(c.Before, c.BeforeSensitive))
	change.AfterSensitive = sensitiveShadow(lang.MarkPaths(c.After, c.AfterSensitive))
	if change.ReplacePaths, err = encodePaths(c.RequiredReplace); err != nil {
		return out, err
	}
	if c.Importing != "" {
		change.Importing = &importing{c.Importing}
		change.GeneratedConfig = c.GeneratedConfig
	}
	out.Change = change
	return out, nil
}

// encodeValues encodes the objects of a change.
func encodeValues(before, after cty.Value) (changeDoc, error) {
	var out changeDoc
	var err error
	if out.Before, err = marshal(before); err != nil {
		return out, err
	}
	out.After, err = marshal(after)
	return out, err
}

// encodePaths encodes paths as lists of names and indices.
func encodePaths(paths []cty.Path) ([][]any, error) {
	var out [][]any
	for _, path := range paths {
		steps := make([]any, 0, len(path))
		for _, step := range path {
			encoded, err := encodeStep(step)
			if err != nil {
				return nil, err
			}
			steps = append(steps, encoded)
		}
		out = append(out, steps)
	}
	return out, nil
}

func encodeStep(step cty.PathStep) (any, error) {
	switch step := step.(type) {
	case cty.GetAttrStep:
		return step.Name, nil
	case cty.IndexStep:
		encoded, err := ctyjson.Marshal(step.Key, step.Key.Type())
		return json.RawMessage(encoded), err
	default:
		return nil, fmt.Errorf("a path has a step of type %T", step)
	}
}

// outputChanges encodes changes of root outputs.
func (e *encoder) outputChanges(outputs []*plans.OutputChange) (map[string]changeDoc, error) {
	out := make(map[string]changeDoc, len(outputs))
	for _, o := range outputs {
		change, err := encodeValues(o.Before, o.After)
		if err != nil {
			return nil, fmt.Errorf("output %s: %w", o.Name, err)
		}
		change.Actions = actions(o.Action)
		change.AfterUnknown = false
		if !o.After.IsWhollyKnown() {
			change.AfterUnknown = unknownShadow(o.After)
		}
		change.BeforeSensitive, change.AfterSensitive = o.Sensitive, o.Sensitive
		out[o.Name] = change
	}
	return out, nil
}

type relevantAttribute struct {
	Resource  string `json:"resource"`
	Attribute []any  `json:"attribute"`
}

func relevantAttributes(relevant []plans.RelevantAttribute) []relevantAttribute {
	out := make([]relevantAttribute, 0, len(relevant))
	for _, r := range relevant {
		paths, err := encodePaths([]cty.Path{r.Path})
		if err != nil {
			continue // a key that is no JSON names nothing that could be relevant
		}
		out = append(out, relevantAttribute{Resource: r.Resource, Attribute: paths[0]})
	}
	return out
}

package planjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/plans/relevance"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/states"
)

// Schemas are the schemas of all providers that a plan or state needs, as the
// engine returns them.
type Schemas map[addrs.Provider]*providers.Schema

// resource returns the schema of a resource type.
func (s Schemas) resource(provider addrs.Provider, addr addrs.Resource) (*providers.ResourceSchema, error) {
	schema := s[provider]
	if schema == nil {
		return nil, fmt.Errorf("there is no schema of provider %s", provider)
	}
	types := schema.ResourceTypes
	if addr.Mode == addrs.Data {
		types = schema.DataSources
	}
	found := types.Get(addr.Type)
	switch {
	case found == nil:
		return nil, fmt.Errorf("provider %s has no schema for %s", provider, addr.Type)
	case found.Invalid != nil:
		return nil, fmt.Errorf("the schema of %s is invalid: %w", addr.Type, found.Invalid)
	}
	return found, nil
}

// block returns the schema block of a resource type, or nil.
func (s Schemas) block(provider addrs.Provider, addr addrs.Resource) *providers.Block {
	schema, err := s.resource(provider, addr)
	if err != nil {
		return nil
	}
	return schema.Block
}

// The versions of the formats.
const (
	planFormat  = "1.2"
	stateFormat = "1.0"
)

// planDoc is the whole document of a plan.
type planDoc struct {
	FormatVersion      string               `json:"format_version"`
	TerraformVersion   string               `json:"terraform_version"`
	Variables          map[string]variable  `json:"variables,omitempty"`
	PlannedValues      values               `json:"planned_values"`
	ResourceDrift      []resourceChange     `json:"resource_drift,omitempty"`
	ResourceChanges    []resourceChange     `json:"resource_changes,omitempty"`
	OutputChanges      map[string]changeDoc `json:"output_changes,omitempty"`
	PriorState         *stateDoc            `json:"prior_state,omitempty"`
	Configuration      configuration        `json:"configuration"`
	RelevantAttributes []relevantAttribute  `json:"relevant_attributes,omitempty"`
	Checks             []checkDoc           `json:"checks,omitempty"`
	Timestamp          string               `json:"timestamp"`
	Applyable          bool                 `json:"applyable"`
	Complete           bool                 `json:"complete"`
	Errored            bool                 `json:"errored"`
}

type variable struct {
	Value json.RawMessage `json:"value"`
}

// Plan returns the document of a plan. config is what the plan was made from.
func Plan(plan *plans.Plan, config *configs.Config, schemas Schemas) ([]byte, error) {
	e := &encoder{schemas: schemas}
	doc := planDoc{
		FormatVersion: planFormat, TerraformVersion: states.TerraformVersion,
		Timestamp: plan.Created.UTC().Format(time.RFC3339), Applyable: plan.Applyable(), Complete: plan.Complete && !plan.Errored, Errored: plan.Errored,
		Checks:             checks(plan.Checks),
		RelevantAttributes: relevantAttributes(relevance.Attributes(plan, config, schemas.block)),
	}
	for _, step := range []func() error{
		func() (err error) { doc.Variables, err = e.variables(plan, config); return },
		func() (err error) { doc.PlannedValues, err = e.plannedValues(plan); return },
		func() (err error) { doc.ResourceDrift, err = e.changes(drift(plan)); return },
		func() (err error) { doc.ResourceChanges, err = e.changes(plan.Changes); return },
		func() (err error) { doc.OutputChanges, err = e.outputChanges(plan.Outputs); return },
		func() (err error) { doc.PriorState, err = e.priorState(plan, config); return },
		func() (err error) { doc.Configuration, err = e.configuration(config); return },
	} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("encode plan: %w", err)
		}
	}
	return encode(doc)
}

// drift is what a plan tells of: one that destroys everything tells of none.
func drift(plan *plans.Plan) []*plans.Change {
	if plan.Mode == plans.DestroyMode {
		return nil
	}
	return plan.Drift
}

// State returns the document of a state.
func State(state *states.State, schemas Schemas) ([]byte, error) {
	e := &encoder{schemas: schemas}
	doc, err := e.state(state)
	if err != nil {
		return nil, fmt.Errorf("encode state: %w", err)
	}
	return encode(doc)
}

// encode writes JSON as Terraform does: one line, without HTML escapes undone.
func encode(doc any) ([]byte, error) {
	var buf bytes.Buffer
	if err := json.NewEncoder(&buf).Encode(doc); err != nil {
		return nil, err
	}
	return bytes.TrimRight(buf.Bytes(), "\n"), nil
}

// encoder turns values into their JSON form under schemas.
type encoder struct {
	schemas Schemas
	// dependencies replace recorded ones, by address: of objects that do not
	// change, the plan already knows what they depend on from now on.
	dependencies map[string][]string
	// providers are the provider configurations of the modules.
	providers providerTable
}

// variables lists every root variable that has a value.
func (e *encoder) variables(plan *plans.Plan, config *configs.Config) (map[string]variable, error) {
	out := map[string]variable{}
	for name, decl := range config.Module.Variables {
		val := decl.Default
		if given, ok := plan.Variables[name]; ok && !given.Ephemeral {
			val = given.Value
		}
		encoded, err := marshal(val)
		if err != nil {
			return nil, fmt.Errorf("variable %s: %w", name, err)
		}
		if encoded != nil {
			out[name] = variable{encoded}
		}
	}
	return out, nil
}

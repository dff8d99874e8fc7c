// Package planfile keeps a plan in a file between planning and applying.
//
// It is not Terraform's own plan file, which no other program may read; it holds
// secrets in clear as that one does, and is written readable by its owner only.
//
// Start with [Write] and [Read]. It may import plans and what plans may.
package planfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	ctymsgpack "github.com/zclconf/go-cty/cty/msgpack"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/states"
)

// magic is the first line of a plan file. It cannot be taken for a zip file,
// which terraform's plan files are.
const magic = "towline plan 1\n"

// maxSize bounds a plan file that is read, in bytes.
const maxSize = 1 << 30

// ErrNotPlan: the file is no plan file of Towline's.
var ErrNotPlan = errors.New("it is not a plan file that towline wrote")

// Saved is what a plan file holds.
type Saved struct {
	Plan *plans.Plan
	// ConfigDigest identifies the configuration that the plan was made from.
	ConfigDigest string
	// Lineage and Serial are those of the state that the plan was made from.
	Lineage string
	Serial  uint64
}

// file is the form on disk, behind the magic line.
type file struct {
	ConfigDigest  string              `json:"config_digest"`
	Lineage       string              `json:"lineage"`
	Serial        uint64              `json:"serial"`
	Mode          plans.Mode          `json:"mode"`
	Created       time.Time           `json:"created"`
	Errored       bool                `json:"errored"`
	Complete      bool                `json:"complete"`
	Variables     map[string]variable `json:"variables"`
	Changes       []change            `json:"changes"`
	Drift         []change            `json:"drift"`
	Outputs       []output            `json:"outputs"`
	Previous      json.RawMessage     `json:"previous_state"`
	Prior         json.RawMessage     `json:"prior_state"`
	Targets       []string            `json:"targets,omitempty"`
	ForceReplace  []string            `json:"force_replace,omitempty"`
	Relevant      []relevant          `json:"relevant,omitempty"`
	ModuleOutputs map[string][]string `json:"module_outputs,omitempty"`
	Checks        json.RawMessage     `json:"checks,omitempty"`
	FunctionKey   []byte              `json:"function_key,omitempty"`
	Functions     map[string]string   `json:"functions,omitempty"`
}

type relevant struct {
	Resource string          `json:"resource"`
	Path     json.RawMessage `json:"path"`
}

type variable struct {
	Value       []byte `json:"value"`
	FromDefault bool   `json:"from_default,omitempty"`
	Ephemeral   bool   `json:"ephemeral,omitempty"`
}

type output struct {
	Name      string       `json:"name"`
	Action    plans.Action `json:"action"`
	Before    []byte       `json:"before"`
	After     []byte       `json:"after"`
	Sensitive bool         `json:"sensitive,omitempty"`
}

type change struct {
	Addr                string          `json:"address"`
	PrevAddr            string          `json:"previous_address"`
	Importing           string          `json:"importing,omitempty"`
	GeneratedConfig     string          `json:"generated_config,omitempty"`
	Deposed             string          `json:"deposed,omitempty"`
	Provider            string          `json:"provider"`
	Action              plans.Action    `json:"action"`
	Reason              plans.Reason    `json:"reason,omitempty"`
	Before              []byte          `json:"before"`
	After               []byte          `json:"after"`
	BeforeSensitive     json.RawMessage `json:"before_sensitive"`
	AfterSensitive      json.RawMessage `json:"after_sensitive"`
	ConfigSensitive     json.RawMessage `json:"config_sensitive"`
	RequiredReplace     json.RawMessage `json:"required_replace"`
	Private             []byte          `json:"private,omitempty"`
	SchemaVersion       int64           `json:"schema_version"`
	Overrides           overrides       `json:"overrides,omitzero"`
	CreateBeforeDestroy bool            `json:"create_before_destroy,omitempty"`
	Dependencies        []string        `json:"dependencies,omitempty"`
}

// overrides are a change's deviations from the configuration.
type overrides struct {
	Owned    *control.Ownership `json:"owned,omitempty"`
	Recorded []byte             `json:"recorded,omitempty"`
	Restore  []string           `json:"restore,omitempty"`
	Held     []string           `json:"held,omitempty"`
}

// Write writes a plan file atomically.
func Write(path string, saved Saved) error {
	encoded, err := encode(saved)
	if err != nil {
		return fmt.Errorf("encode plan: %w", err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".plan-*") // mode 0600
	if err != nil {
		return fmt.Errorf("write plan: %w", err)
	}
	_, err = tmp.Write(append([]byte(magic), encoded...))
	if closeErr := tmp.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write plan: %w", err), os.Remove(tmp.Name()))
	}
	return nil
}

// Read reads a plan file. The error is [ErrNotPlan] if it is something else.
func Read(path string) (Saved, error) {
	f, err := os.Open(path)
	if err != nil {
		return Saved{}, fmt.Errorf("read plan: %w", err)
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return Saved{}, fmt.Errorf("read plan: %w", err)
	}
	body, ok := bytes.CutPrefix(data, []byte(magic))
	if !ok || len(data) > maxSize {
		return Saved{}, fmt.Errorf("read plan %s: %w", path, ErrNotPlan)
	}
	saved, err := decode(body)
	if err != nil {
		return Saved{}, fmt.Errorf("read plan %s: %w", path, err)
	}
	return saved, nil
}

func encode(saved Saved) ([]byte, error) {
	p := saved.Plan
	out := file{ConfigDigest: saved.ConfigDigest, Lineage: saved.Lineage, Serial: saved.Serial, Mode: p.Mode, Created: p.Created,
		Errored: p.Errored, Complete: p.Complete, Variables: map[string]variable{}}
	e := &coder{}
	for name, v := range p.Variables {
		out.Variables[name] = variable{e.value(v.Value), v.FromDefault, v.Ephemeral}
	}
	for _, c := range p.Changes {
		out.Changes = append(out.Changes, e.change(c))
	}
	for _, c := range p.Drift {
		out.Drift = append(out.Drift, e.change(c))
	}
	for _, o := range p.Outputs {
		out.Outputs = append(out.Outputs, output{o.Name, o.Action, e.value(o.Before), e.value(o.After), o.Sensitive})
	}
	out.Previous, out.Prior = e.state(p.Previous), e.state(p.Prior)
	for _, t := range p.Targets {
		out.Targets = append(out.Targets, t.String())
	}
	for _, a := range p.ForceReplace {
		out.ForceReplace = append(out.ForceReplace, a.String())
	}
	for _, r := range p.Relevant {
		out.Relevant = append(out.Relevant, relevant{r.Resource, e.paths([]cty.Path{r.Path})})
	}
	out.ModuleOutputs = p.ModuleOutputs
	checks, err := states.EncodeChecks(p.Checks)
	e.fail(err)
	out.Checks = checks
	out.FunctionKey, out.Functions = p.Functions.Key, p.Functions.Results
	if e.err != nil {
		return nil, e.err
	}
	return json.Marshal(out)
}

func decode(data []byte) (Saved, error) {
	var in file
	if err := json.Unmarshal(data, &in); err != nil {
		return Saved{}, err
	}
	d := &coder{}
	p := &plans.Plan{Mode: in.Mode, Created: in.Created, Errored: in.Errored, Complete: in.Complete, ModuleOutputs: in.ModuleOutputs, Variables: map[string]plans.Variable{}}
	for name, v := range in.Variables {
		p.Variables[name] = plans.Variable{Value: d.decodeValue(v.Value), FromDefault: v.FromDefault, Ephemeral: v.Ephemeral}
	}
	for _, c := range in.Changes {
		p.Changes = append(p.Changes, d.decodeChange(c))
	}
	for _, c := range in.Drift {
		p.Drift = append(p.Drift, d.decodeChange(c))
	}
	for _, o := range in.Outputs {
		p.Outputs = append(p.Outputs, &plans.OutputChange{Name: o.Name, Action: o.Action, Before: d.decodeValue(o.Before), After: d.decodeValue(o.After), Sensitive: o.Sensitive})
	}
	p.Previous, p.Prior = d.decodeState(in.Previous), d.decodeState(in.Prior)
	for _, text := range in.Targets {
		target, diags := addrs.ParseTarget(text)
		d.fail(diags.Err())
		p.Targets = append(p.Targets, target)
	}
	for _, text := range in.ForceReplace {
		p.ForceReplace = append(p.ForceReplace, d.addr(text))
	}
	for _, r := range in.Relevant {
		for _, path := range d.decodePaths(r.Path) {
			p.Relevant = append(p.Relevant, plans.RelevantAttribute{Resource: r.Resource, Path: path})
		}
	}
	checks, err := states.DecodeChecks(in.Checks)
	d.fail(err)
	p.Checks = checks
	p.Functions = plans.FunctionResults{Key: in.FunctionKey, Results: in.Functions}
	return Saved{Plan: p, ConfigDigest: in.ConfigDigest, Lineage: in.Lineage, Serial: in.Serial}, d.err
}

// coder keeps the first error, so that fields can be listed plainly.
type coder struct{ err error }

func (c *coder) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// value encodes a value with its type, so that no schema is needed to read it.
func (c *coder) value(v cty.Value) []byte {
	if v == cty.NilVal {
		return nil
	}
	v, _ = v.UnmarkDeep()
	ty, err := ctyjson.MarshalType(v.Type())
	c.fail(err)
	raw, err := ctymsgpack.Marshal(v, v.Type())
	c.fail(err)
	out, err := json.Marshal([2]any{json.RawMessage(ty), raw})
	c.fail(err)
	return out
}

func (c *coder) decodeValue(data []byte) cty.Value {
	if len(data) == 0 {
		return cty.NilVal
	}
	var parts [2]json.RawMessage
	var raw []byte
	if err := json.Unmarshal(data, &parts); err != nil {
		c.fail(err)
		return cty.DynamicVal
	}
	ty, err := ctyjson.UnmarshalType(parts[0])
	c.fail(err)
	c.fail(json.Unmarshal(parts[1], &raw))
	if c.err != nil {
		return cty.DynamicVal
	}
	v, err := ctymsgpack.Unmarshal(raw, ty)
	c.fail(err)
	return v
}

func (c *coder) change(in *plans.Change) change {
	return change{
		Addr: in.Addr.String(), PrevAddr: in.PrevAddr.String(), Importing: in.Importing, GeneratedConfig: in.GeneratedConfig, Deposed: in.Deposed, Provider: in.Provider.String(),
		Action: in.Action, Reason: in.Reason, Before: c.value(in.Before), After: c.value(in.After),
		BeforeSensitive: c.paths(in.BeforeSensitive), AfterSensitive: c.paths(in.AfterSensitive), ConfigSensitive: c.paths(in.AfterConfigSensitive),
		RequiredReplace: c.paths(in.RequiredReplace), Private: in.Private, SchemaVersion: in.SchemaVersion,
		Overrides:           overrides{in.Overrides.Owned, c.value(in.Overrides.Recorded), in.Overrides.Restore, in.Overrides.Held},
		CreateBeforeDestroy: in.CreateBeforeDestroy, Dependencies: in.Dependencies,
	}
}

func (c *coder) decodeChange(in change) *plans.Change {
	provider, diags := addrs.ParseProviderConfig(in.Provider)
	c.fail(diags.Err())
	out := &plans.Change{
		Addr: c.addr(in.Addr), PrevAddr: c.addr(in.PrevAddr), Importing: in.Importing, GeneratedConfig: in.GeneratedConfig, Deposed: in.Deposed, Provider: provider,
		Action: in.Action, Reason: in.Reason, Before: c.decodeValue(in.Before), After: c.decodeValue(in.After),
		BeforeSensitive: c.decodePaths(in.BeforeSensitive), AfterSensitive: c.decodePaths(in.AfterSensitive), AfterConfigSensitive: c.decodePaths(in.ConfigSensitive),
		RequiredReplace: c.decodePaths(in.RequiredReplace), Private: in.Private, SchemaVersion: in.SchemaVersion,
		Overrides:           plans.Overrides{Owned: in.Overrides.Owned, Recorded: c.decodeValue(in.Overrides.Recorded), Restore: in.Overrides.Restore, Held: in.Overrides.Held},
		CreateBeforeDestroy: in.CreateBeforeDestroy, Dependencies: in.Dependencies,
	}
	return out
}

func (c *coder) addr(text string) addrs.ResourceInstance {
	addr, diags := addrs.ParseResourceInstance(text)
	c.fail(diags.Err())
	return addr
}

func (c *coder) paths(paths []cty.Path) json.RawMessage {
	raw, err := states.EncodePaths(paths)
	c.fail(err)
	return raw
}

func (c *coder) decodePaths(raw json.RawMessage) []cty.Path {
	paths, err := states.DecodePaths(raw)
	c.fail(err)
	return paths
}

func (c *coder) state(s *states.State) json.RawMessage {
	var buf bytes.Buffer
	c.fail(states.Write(&buf, s))
	return buf.Bytes()
}

func (c *coder) decodeState(raw json.RawMessage) *states.State {
	s, diags := states.Decode(raw)
	c.fail(diags.Err())
	return s
}

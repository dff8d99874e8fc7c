package states

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// TerraformVersion is written into states: that of the Terraform whose behaviour Towline reproduces.
const TerraformVersion = "1.11.4"

// MaxFileSize bounds a state file that is read, in bytes.
const MaxFileSize = 1 << 30

// The state file, version 4, field by field in Terraform's order.
type fileV4 struct {
	Version          int                     `json:"version"`
	TerraformVersion string                  `json:"terraform_version"`
	Serial           uint64                  `json:"serial"`
	Lineage          string                  `json:"lineage"`
	Outputs          map[string]fileOutputV4 `json:"outputs"`
	Resources        []fileResourceV4        `json:"resources"`
	CheckResults     json.RawMessage         `json:"check_results"`
}

type fileOutputV4 struct {
	Value     json.RawMessage `json:"value"`
	Type      json.RawMessage `json:"type"`
	Sensitive bool            `json:"sensitive,omitempty"`
}

type fileResourceV4 struct {
	Module    string           `json:"module,omitempty"`
	Mode      string           `json:"mode"`
	Type      string           `json:"type"`
	Name      string           `json:"name"`
	Each      string           `json:"each,omitempty"`
	Provider  string           `json:"provider"`
	Instances []fileInstanceV4 `json:"instances"`
}

type fileInstanceV4 struct {
	IndexKey            any               `json:"index_key,omitempty"`
	Status              string            `json:"status,omitempty"`
	Deposed             string            `json:"deposed,omitempty"`
	SchemaVersion       int64             `json:"schema_version"`
	Attributes          json.RawMessage   `json:"attributes,omitempty"`
	AttributesFlat      map[string]string `json:"attributes_flat,omitempty"`
	SensitiveAttributes json.RawMessage   `json:"sensitive_attributes,omitempty"`
	Private             []byte            `json:"private,omitempty"`
	Dependencies        []string          `json:"dependencies,omitempty"`
	CreateBeforeDestroy bool              `json:"create_before_destroy,omitempty"`
}

// Decode decodes a state file. An empty one is an empty state.
func Decode(data []byte) (*State, tfdiags.Diagnostics) {
	if len(data) > MaxFileSize {
		return nil, invalid(fmt.Sprintf("The state is larger than %d bytes.", MaxFileSize))
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return New(), nil
	}
	file, err := decodeFile(data)
	if err != nil {
		return nil, invalid(fmt.Sprintf("The state is not valid JSON of the expected form: %s.", err))
	}
	switch {
	case file.Version > 4:
		return nil, invalid(fmt.Sprintf("The state has format version %d, which is newer than all that this version of towline knows. Use a newer version, or go back to a copy of the state from before.", file.Version))
	case file.Version < 4:
		return nil, invalid(fmt.Sprintf("The state has format version %d, from before Terraform 0.12. It has to be upgraded first by \"terraform apply\" with the versions 0.12 and 0.13, one after the other.", file.Version))
	}
	return fromFile(file)
}

func invalid(detail string) tfdiags.Diagnostics {
	return tfdiags.New(tfdiags.Error, "Invalid state", detail)
}

// fileReader makes a state of a file. Addresses that many resources have are parsed once.
type fileReader struct {
	*State
	modules   map[string]addrs.ModuleInstance
	providers map[string]addrs.ProviderConfig
}

func fromFile(file *fileV4) (*State, tfdiags.Diagnostics) {
	s := &fileReader{New(), map[string]addrs.ModuleInstance{}, map[string]addrs.ProviderConfig{}}
	s.TerraformVersion, s.Serial, s.Lineage = file.TerraformVersion, file.Serial, file.Lineage
	if !bytes.Equal(file.CheckResults, []byte("null")) {
		s.CheckResults = file.CheckResults
	}
	for name, o := range file.Outputs {
		ty, err := ctyjson.UnmarshalType(o.Type)
		if err != nil {
			return nil, invalid(fmt.Sprintf("The type of output %q is invalid: %s.", name, err))
		}
		val, err := ctyjson.Unmarshal(o.Value, ty)
		if err != nil {
			return nil, invalid(fmt.Sprintf("The value of output %q does not fit its type: %s.", name, err))
		}
		s.Outputs[name] = &Output{Value: val, Sensitive: o.Sensitive}
	}
	for i := range file.Resources {
		if diags := s.addFileResource(&file.Resources[i]); diags.HasErrors() {
			return nil, diags
		}
	}
	return s.State, nil
}

func (s *fileReader) addFileResource(r *fileResourceV4) tfdiags.Diagnostics {
	addr := addrs.ResourceInstance{Resource: addrs.Resource{Type: r.Type, Name: r.Name}}
	switch r.Mode {
	case "managed":
	case "data":
		addr.Resource.Mode = addrs.Data
	default:
		return invalid(fmt.Sprintf("Resource %s.%s has the unknown mode %q.", r.Type, r.Name, r.Mode))
	}
	module, diags := once(s.modules, r.Module, addrs.ParseModuleInstance)
	if diags.HasErrors() {
		return diags
	}
	addr.Module = slices.Clip(module) // which others have as well: nobody may append to it in place
	provider, diags := once(s.providers, r.Provider, addrs.ParseProviderConfig)
	if diags.HasErrors() {
		return diags
	}
	provider.Module = slices.Clip(provider.Module)
	for i := range r.Instances {
		if diags := s.addFileInstance(addr, provider, &r.Instances[i]); diags.HasErrors() {
			return diags
		}
	}
	return nil
}

func once[T any](known map[string]T, text string, parse func(string) (T, tfdiags.Diagnostics)) (T, tfdiags.Diagnostics) {
	if out, ok := known[text]; ok {
		return out, nil
	}
	out, diags := parse(text)
	if !diags.HasErrors() {
		known[text] = out
	}
	return out, diags
}

func (s *fileReader) addFileInstance(addr addrs.ResourceInstance, provider addrs.ProviderConfig, in *fileInstanceV4) tfdiags.Diagnostics {
	switch key := in.IndexKey.(type) {
	case nil:
	case float64:
		addr.Key = addrs.IntKey(int(key))
	case string:
		addr.Key = addrs.StringKey(key)
	default:
		return invalid(fmt.Sprintf("An instance of %s has a key that is neither a number nor text.", addr))
	}
	obj, err := in.object()
	if err == nil {
		err = in.checkKind()
	}
	if err != nil {
		return invalid(fmt.Sprintf("An object of %s is invalid: %s.", addr, err))
	}
	existing := s.Instance(addr)
	if in.Deposed != "" {
		s.SetDeposed(addr, in.Deposed, provider, obj)
		return nil
	}
	if existing != nil && existing.Current != nil {
		return invalid(fmt.Sprintf("There are two current objects for %s.", addr))
	}
	s.SetObject(addr, provider, obj)
	return nil
}

// deposedKeyLength is that of the keys under which deposed objects are recorded.
const deposedKeyLength = 8

// checkKind refuses what would be taken for another object than was recorded: a
// tainted or deposed object of an unknown writing must not count as a healthy one.
func (in *fileInstanceV4) checkKind() error {
	if in.Status != "" && in.Status != "tainted" {
		return fmt.Errorf("its status %q is not known", in.Status)
	}
	if in.Deposed != "" && len(in.Deposed) != deposedKeyLength {
		return fmt.Errorf("its deposed key %q does not have %d characters", in.Deposed, deposedKeyLength)
	}
	return nil
}

// Write encodes a state file, indented as Terraform does.
func Write(w io.Writer, s *State) error {
	file, err := toFile(s)
	if err != nil {
		return err
	}
	var buf bytes.Buffer
	encoder := json.NewEncoder(&buf)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(file); err != nil {
		return fmt.Errorf("encode state: %w", err)
	}
	_, err = w.Write(buf.Bytes())
	return err
}

func toFile(s *State) (*fileV4, error) {
	file := &fileV4{
		Version: 4, TerraformVersion: s.TerraformVersion, Serial: s.Serial, Lineage: s.Lineage,
		Outputs: map[string]fileOutputV4{}, Resources: []fileResourceV4{}, CheckResults: json.RawMessage("null"),
	}
	if len(s.CheckResults) > 0 {
		file.CheckResults = s.CheckResults
	}
	for name, o := range s.Outputs {
		val, _ := o.Value.UnmarkDeep()
		encoded, err := ctyjson.Marshal(val, val.Type())
		if err != nil {
			return nil, fmt.Errorf("encode output %s: %w", name, err)
		}
		ty, err := ctyjson.MarshalType(val.Type())
		if err != nil {
			return nil, fmt.Errorf("encode the type of output %s: %w", name, err)
		}
		file.Outputs[name] = fileOutputV4{Value: encoded, Type: ty, Sensitive: o.Sensitive}
	}
	for _, r := range s.Resources() {
		encoded, err := toFileResource(r)
		if err != nil {
			return nil, err
		}
		file.Resources = append(file.Resources, encoded)
	}
	// Instances of modules are in the order of their addresses as texts, as terraform writes them.
	slices.SortStableFunc(file.Resources, func(a, b fileResourceV4) int { return cmp.Compare(a.Module, b.Module) })
	return file, nil
}

func toFileResource(r *Resource) (fileResourceV4, error) {
	out := fileResourceV4{Module: r.Module.String(), Mode: "managed", Type: r.Addr.Type, Name: r.Addr.Name, Provider: r.Provider.String()}
	if r.Addr.Mode == addrs.Data {
		out.Mode = "data"
	}
	for _, key := range slices.SortedFunc(maps.Keys(r.Instances), addrs.InstanceKey.Compare) {
		inst := r.Instances[key]
		if inst.Current != nil {
			encoded, err := toFileInstance(key, "", inst.Current)
			if err != nil {
				return out, fmt.Errorf("encode %s%s: %w", r.Addr, key, err)
			}
			out.Instances = append(out.Instances, encoded)
		}
		for _, deposed := range slices.Sorted(maps.Keys(inst.Deposed)) {
			encoded, err := toFileInstance(key, deposed, inst.Deposed[deposed])
			if err != nil {
				return out, fmt.Errorf("encode %s%s: %w", r.Addr, key, err)
			}
			out.Instances = append(out.Instances, encoded)
		}
	}
	return out, nil
}

func toFileInstance(key addrs.InstanceKey, deposed string, obj *Object) (fileInstanceV4, error) {
	out := fileInstanceV4{
		Deposed: deposed, SchemaVersion: obj.SchemaVersion, Attributes: obj.AttrsJSON, AttributesFlat: obj.AttrsFlat,
		Private: obj.Private, Dependencies: obj.Dependencies, CreateBeforeDestroy: obj.CreateBeforeDestroy,
	}
	if n, ok := key.Int(); ok {
		out.IndexKey = n
	} else if text, ok := key.Text(); ok {
		out.IndexKey = text
	}
	if obj.Tainted {
		out.Status = "tainted"
	}
	paths, err := EncodePaths(obj.Sensitive)
	out.SensitiveAttributes = paths
	return out, err
}

// The form of paths in sensitive_attributes.
type fileStep struct {
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
}

type fileIndex struct {
	Value json.RawMessage `json:"value"`
	Type  json.RawMessage `json:"type"`
}

// EncodePaths encodes paths as sensitive_attributes in a state file.
func EncodePaths(paths []cty.Path) (json.RawMessage, error) {
	out := make([][]fileStep, 0, len(paths))
	for _, path := range paths {
		steps := make([]fileStep, 0, len(path))
		for _, step := range path {
			encoded, err := encodeStep(step)
			if err != nil {
				return nil, err
			}
			steps = append(steps, encoded)
		}
		out = append(out, steps)
	}
	return json.Marshal(out)
}

func encodeStep(step cty.PathStep) (fileStep, error) {
	switch step := step.(type) {
	case cty.GetAttrStep:
		name, err := json.Marshal(step.Name)
		return fileStep{Type: "get_attr", Value: name}, err
	case cty.IndexStep:
		val, err := ctyjson.Marshal(step.Key, step.Key.Type())
		if err != nil {
			return fileStep{}, err
		}
		ty, err := ctyjson.MarshalType(step.Key.Type())
		if err != nil {
			return fileStep{}, err
		}
		index, err := json.Marshal(fileIndex{Value: val, Type: ty})
		return fileStep{Type: "index", Value: index}, err
	default:
		return fileStep{}, fmt.Errorf("a path has a step of type %T", step)
	}
}

// DecodePaths decodes what [EncodePaths] returned.
func DecodePaths(raw json.RawMessage) ([]cty.Path, error) {
	if len(raw) == 0 || string(raw) == "[]" {
		return nil, nil
	}
	var paths [][]fileStep
	if err := json.Unmarshal(raw, &paths); err != nil {
		return nil, err
	}
	var out []cty.Path
	for _, steps := range paths {
		var path cty.Path
		for _, step := range steps {
			decoded, err := decodeStep(step)
			if err != nil {
				return nil, err
			}
			path = append(path, decoded)
		}
		out = append(out, path)
	}
	return out, nil
}

func decodeStep(step fileStep) (cty.PathStep, error) {
	switch step.Type {
	case "get_attr":
		var name string
		if err := json.Unmarshal(step.Value, &name); err != nil {
			return nil, err
		}
		return cty.GetAttrStep{Name: name}, nil
	case "index":
		var index fileIndex
		if err := json.Unmarshal(step.Value, &index); err != nil {
			return nil, err
		}
		ty, err := ctyjson.UnmarshalType(index.Type)
		if err != nil {
			return nil, err
		}
		key, err := ctyjson.Unmarshal(index.Value, ty)
		return cty.IndexStep{Key: key}, err
	default:
		return nil, fmt.Errorf("unknown path step %q", step.Type)
	}
}

// EncodeObject encodes one object as it stands in a state file, without its key.
func EncodeObject(obj *Object) ([]byte, error) {
	encoded, err := toFileInstance(addrs.NoKey, "", obj)
	if err != nil {
		return nil, err
	}
	return json.Marshal(encoded)
}

// DecodeObject decodes what [EncodeObject] returned.
func DecodeObject(data []byte) (*Object, error) {
	var in fileInstanceV4
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, fmt.Errorf("decode object: %w", err)
	}
	return in.object()
}

func (in *fileInstanceV4) object() (*Object, error) {
	sensitive, err := DecodePaths(in.SensitiveAttributes)
	if err != nil {
		return nil, fmt.Errorf("decode sensitive attributes: %w", err)
	}
	return &Object{
		SchemaVersion: in.SchemaVersion, AttrsJSON: in.Attributes, AttrsFlat: in.AttributesFlat,
		Sensitive: sensitive, Private: in.Private, Dependencies: in.Dependencies,
		Tainted: in.Status == "tainted", CreateBeforeDestroy: in.CreateBeforeDestroy,
	}, nil
}

package backend

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// Settings are a backend's decoded arguments; what is not set is null.
type Settings struct {
	Type  string
	Value cty.Value
	// Hash identifies what the configuration itself says, without what init was given
	// besides, as terraform records it.
	Hash uint64
}

// Decoded tells whether the arguments could be read at all; some may be missing still.
func (s Settings) Decoded() bool { return s.Value != cty.NilVal }

// schema describes the arguments of one kind of backend.
type schema struct {
	attributes map[string]cty.Type
	required   []string
}

var schemas = map[string]schema{"local": localSchema, "s3": s3Schema}

// Decode reads the arguments of a backend block. Every override, such as a file
// given to init, replaces arguments of the block and of earlier overrides.
func Decode(kind string, body hcl.Body, overrides ...hcl.Body) (Settings, tfdiags.Diagnostics) {
	sch, ok := schemas[kind]
	if !ok {
		return Settings{}, unsupported(kind)
	}
	value, hclDiags := hcldec.Decode(body, sch.spec(), nil)
	if hclDiags.HasErrors() {
		return Settings{}, tfdiags.FromHCL(hclDiags)
	}
	settings := Settings{Type: kind, Hash: uint64(hashOf(kind, value))} //nolint:gosec // a hash has no sign
	attributes := value.AsValueMap()
	for _, override := range overrides {
		over, hclDiags := hcldec.Decode(override, sch.spec(), nil)
		if hclDiags.HasErrors() {
			return Settings{}, tfdiags.FromHCL(hclDiags)
		}
		for name, given := range over.AsValueMap() {
			if !given.IsNull() {
				attributes[name] = given
			}
		}
	}
	settings.Value = cty.ObjectVal(attributes)
	return settings, sch.check(settings, body.MissingItemRange())
}

// Default are the settings of a configuration without a backend block.
func Default() Settings {
	settings, _ := Decode("local", hcl.EmptyBody()) // nothing in it can be wrong
	return settings
}

func hashOf(kind string, value cty.Value) int {
	return cty.TupleVal([]cty.Value{cty.StringVal(kind), value}).Hash()
}

func unsupported(kind string) tfdiags.Diagnostics {
	return tfdiags.New(tfdiags.Error, "Unsupported backend",
		fmt.Sprintf("The configuration keeps its state in the backend %q, with which towline does not work. Nothing was read or written. Use the local backend, or s3 with use_lockfile, or run this configuration in an agent, which keeps state in the repository's store.", kind))
}

func (s schema) spec() hcldec.Spec {
	spec := hcldec.ObjectSpec{}
	for name, ty := range s.attributes {
		spec[name] = &hcldec.AttrSpec{Name: name, Type: ty}
	}
	return spec
}

// ty is the type of decoded settings.
func (s schema) ty() cty.Type {
	attributes := make(map[string]cty.Type, len(s.attributes))
	for name, ty := range s.attributes {
		attributes[name] = ty.WithoutOptionalAttributesDeep()
	}
	return cty.Object(attributes)
}

func (s schema) check(settings Settings, at hcl.Range) tfdiags.Diagnostics {
	var diags tfdiags.Diagnostics
	for _, name := range s.required {
		if settings.text(name) == "" {
			diags = append(diags, tfdiags.At(at, "Missing Required Value",
				fmt.Sprintf("The argument %q is required by the backend %q, but nothing sets it. Set it in the backend block, or give it to init with -backend-config.", name, settings.Type))...)
		}
	}
	return diags
}

// MarshalConfig returns the arguments as terraform records them.
func (s Settings) MarshalConfig() (json.RawMessage, error) {
	out, err := ctyjson.Marshal(s.Value, s.Value.Type())
	if err != nil {
		return nil, fmt.Errorf("encode backend settings: %w", err)
	}
	return out, nil
}

// UnmarshalSettings reads what [Settings.MarshalConfig] returned, or terraform recorded.
func UnmarshalSettings(kind string, config json.RawMessage, hash uint64) (Settings, tfdiags.Diagnostics) {
	sch, ok := schemas[kind]
	if !ok {
		return Settings{}, unsupported(kind)
	}
	value, err := ctyjson.Unmarshal(config, sch.ty())
	if err != nil {
		return Settings{}, tfdiags.FromError("Backend settings not readable", fmt.Errorf("decode recorded settings of the backend %s: %w; run \"towline init -reconfigure\"", kind, err))
	}
	return Settings{Type: kind, Value: value, Hash: hash}, nil
}

// Equal tells whether two settings lead to the same place.
func (s Settings) Equal(other Settings) bool {
	return s.Type == other.Type && s.Value.RawEquals(other.Value)
}

// FromValue makes settings of an object, as a terraform_remote_state data source
// gives them; null takes the defaults.
func FromValue(kind string, config cty.Value) (Settings, tfdiags.Diagnostics) {
	sch, ok := schemas[kind]
	if !ok {
		return Settings{}, unsupported(kind)
	}
	attributes := map[string]cty.Value{}
	for name, ty := range sch.attributes {
		attributes[name] = cty.NullVal(ty.WithoutOptionalAttributesDeep())
	}
	if !config.IsNull() {
		for it := config.ElementIterator(); it.Next(); {
			key, given := it.Element()
			name := key.AsString()
			ty, ok := sch.attributes[name]
			if !ok {
				return Settings{}, tfdiags.New(tfdiags.Error, "Invalid remote state configuration",
					fmt.Sprintf("The backend %q has no argument %q; it has %s.", kind, name, strings.Join(sortedNames(sch.attributes), ", ")))
			}
			converted, err := convertTo(given, ty)
			if err != nil {
				return Settings{}, tfdiags.FromError("Invalid remote state configuration", fmt.Errorf("argument %q: %w", name, err))
			}
			attributes[name] = converted
		}
	}
	settings := Settings{Type: kind, Value: cty.ObjectVal(attributes)}
	return settings, sch.check(settings, hcl.Range{})
}

func sortedNames(attributes map[string]cty.Type) []string {
	names := make([]string, 0, len(attributes))
	for name := range attributes {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

package plugin

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/towline/terraform-provider-towline/internal/plugin/internal/tfplugin5"
	"github.com/towline/terraform-provider-towline/internal/plugin/internal/tfplugin6"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// toDiagnostics converts a provider's problems. One of unknown severity counts
// as an error, so that none is lost.
func toDiagnostics(in []*tfplugin6.Diagnostic) tfdiags.Diagnostics {
	var out tfdiags.Diagnostics
	for _, d := range in {
		severity := tfdiags.Error
		if d.GetSeverity() == tfplugin6.Diagnostic_WARNING {
			severity = tfdiags.Warning
		}
		out = append(out, tfdiags.Diagnostic{
			Severity: severity, Summary: d.GetSummary(), Detail: d.GetDetail(), Attribute: toPath(d.GetAttribute()),
		})
	}
	return out
}

// toPath converts a path as far as it has steps of a known kind.
func toPath(in *tfplugin6.AttributePath) cty.Path {
	var out cty.Path
	for _, step := range in.GetSteps() {
		switch s := step.GetSelector().(type) {
		case *tfplugin6.AttributePath_Step_AttributeName:
			out = out.GetAttr(s.AttributeName)
		case *tfplugin6.AttributePath_Step_ElementKeyString:
			out = out.IndexString(s.ElementKeyString)
		case *tfplugin6.AttributePath_Step_ElementKeyInt:
			out = out.Index(cty.NumberIntVal(s.ElementKeyInt))
		default:
			return out
		}
	}
	return out
}

func toPaths(in []*tfplugin6.AttributePath) []cty.Path {
	var out []cty.Path
	for _, path := range in {
		out = append(out, toPath(path))
	}
	return out
}

// toBlock converts a block's schema and checks it.
func toBlock(in *tfplugin6.Schema_Block) (*providers.Block, error) {
	out := &providers.Block{}
	if err := fillBlock(out, in); err != nil {
		return nil, err
	}
	if err := out.InternalValidate(); err != nil {
		return nil, err
	}
	return out, nil
}

func fillBlock(out *providers.Block, in *tfplugin6.Schema_Block) error {
	out.Description, out.Deprecated = in.GetDescription(), in.GetDeprecated()
	out.Markdown = in.GetDescriptionKind() == tfplugin6.StringKind_MARKDOWN
	attrs, err := toAttributes(in.GetAttributes())
	if err != nil {
		return err
	}
	out.Attributes = attrs
	out.BlockTypes = make(map[string]*providers.NestedBlock, len(in.GetBlockTypes()))
	for _, nested := range in.GetBlockTypes() {
		block := &providers.NestedBlock{
			Nesting:  blockNesting[nested.GetNesting()],
			MinItems: int(nested.GetMinItems()), MaxItems: int(nested.GetMaxItems()),
		}
		if err := fillBlock(&block.Block, nested.GetBlock()); err != nil {
			return fmt.Errorf("%s: %w", nested.GetTypeName(), err)
		}
		out.BlockTypes[nested.GetTypeName()] = block
	}
	return nil
}

var blockNesting = map[tfplugin6.Schema_NestedBlock_NestingMode]providers.NestingMode{
	tfplugin6.Schema_NestedBlock_SINGLE: providers.NestingSingle,
	tfplugin6.Schema_NestedBlock_GROUP:  providers.NestingGroup,
	tfplugin6.Schema_NestedBlock_LIST:   providers.NestingList,
	tfplugin6.Schema_NestedBlock_SET:    providers.NestingSet,
	tfplugin6.Schema_NestedBlock_MAP:    providers.NestingMap,
}

var objectNesting = map[tfplugin6.Schema_Object_NestingMode]providers.NestingMode{
	tfplugin6.Schema_Object_SINGLE: providers.NestingSingle,
	tfplugin6.Schema_Object_LIST:   providers.NestingList,
	tfplugin6.Schema_Object_SET:    providers.NestingSet,
	tfplugin6.Schema_Object_MAP:    providers.NestingMap,
}

func toAttributes(in []*tfplugin6.Schema_Attribute) (map[string]*providers.Attribute, error) {
	out := make(map[string]*providers.Attribute, len(in))
	for _, a := range in {
		attr := &providers.Attribute{
			Required: a.GetRequired(), Optional: a.GetOptional(), Computed: a.GetComputed(),
			Sensitive: a.GetSensitive(), WriteOnly: a.GetWriteOnly(),
			Deprecated: a.GetDeprecated(), Description: a.GetDescription(),
			Markdown: a.GetDescriptionKind() == tfplugin6.StringKind_MARKDOWN,
		}
		var err error
		if a.GetNestedType() != nil {
			attr.NestedType = &providers.Object{Nesting: objectNesting[a.GetNestedType().GetNesting()]}
			attr.NestedType.Attributes, err = toAttributes(a.GetNestedType().GetAttributes())
		} else {
			attr.Type, err = toType(a.GetType())
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.GetName(), err)
		}
		out[a.GetName()] = attr
	}
	return out, nil
}

// fromV5 converts a schema of protocol 5, which has no nested attributes.
func fromV5(in *tfplugin5.Schema) *tfplugin6.Schema {
	return &tfplugin6.Schema{Version: in.GetVersion(), Block: blockFromV5(in.GetBlock())}
}

func blockFromV5(in *tfplugin5.Schema_Block) *tfplugin6.Schema_Block {
	out := &tfplugin6.Schema_Block{Version: in.GetVersion(), Description: in.GetDescription(), Deprecated: in.GetDeprecated(),
		DescriptionKind: tfplugin6.StringKind(in.GetDescriptionKind())}
	for _, a := range in.GetAttributes() {
		out.Attributes = append(out.Attributes, &tfplugin6.Schema_Attribute{
			Name: a.GetName(), Type: a.GetType(), Description: a.GetDescription(), DescriptionKind: tfplugin6.StringKind(a.GetDescriptionKind()),
			Required: a.GetRequired(), Optional: a.GetOptional(), Computed: a.GetComputed(),
			Sensitive: a.GetSensitive(), Deprecated: a.GetDeprecated(), WriteOnly: a.GetWriteOnly(),
		})
	}
	for _, b := range in.GetBlockTypes() {
		out.BlockTypes = append(out.BlockTypes, &tfplugin6.Schema_NestedBlock{
			TypeName: b.GetTypeName(), Block: blockFromV5(b.GetBlock()),
			Nesting:  tfplugin6.Schema_NestedBlock_NestingMode(b.GetNesting()),
			MinItems: b.GetMinItems(), MaxItems: b.GetMaxItems(),
		})
	}
	return out
}

func toFunction(in *tfplugin6.Function) (*providers.FunctionSchema, error) {
	out := &providers.FunctionSchema{
		Summary: in.GetSummary(), Description: in.GetDescription(), DeprecationMsg: in.GetDeprecationMessage(),
	}
	for _, p := range in.GetParameters() {
		param, err := toParameter(p)
		if err != nil {
			return nil, err
		}
		out.Parameters = append(out.Parameters, param)
	}
	if p := in.GetVariadicParameter(); p != nil {
		param, err := toParameter(p)
		if err != nil {
			return nil, err
		}
		out.VariadicParameter = &param
	}
	ty, err := toType(in.GetReturn().GetType())
	if err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	out.Return = ty
	return out, nil
}

func toParameter(in *tfplugin6.Function_Parameter) (function.Parameter, error) {
	ty, err := toType(in.GetType())
	if err != nil {
		return function.Parameter{}, fmt.Errorf("parameter %s: %w", in.GetName(), err)
	}
	return function.Parameter{
		Name: in.GetName(), Description: in.GetDescription(), Type: ty,
		AllowNull: in.GetAllowNullValue(), AllowUnknown: in.GetAllowUnknownValues(),
	}, nil
}

func toType(raw []byte) (cty.Type, error) {
	ty, err := ctyjson.UnmarshalType(raw)
	if err != nil {
		return cty.NilType, fmt.Errorf("unreadable type: %w", err)
	}
	return ty, nil
}

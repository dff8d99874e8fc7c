package provider

import (
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/float64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/towline/terraform-provider-towline/internal/simcloud/cloudapi"
)

// resourceSchema makes the schema of a kind.
func resourceSchema(kind *cloudapi.Kind) schema.Schema {
	attributes, blocks := fields(kind.Attributes, true)
	for name, attribute := range identity() {
		attributes[name] = attribute
	}
	return schema.Schema{MarkdownDescription: kind.Description, Attributes: attributes, Blocks: blocks}
}

// identity are the attributes that every kind has.
func identity() map[string]schema.Attribute {
	out := make(map[string]schema.Attribute, 7)
	for name, description := range map[string]string{
		"environment": "Environment of the object's namespace.",
		"service":     "Service of the object's namespace.",
		"name":        "Name of the object, unique for its kind in its namespace.",
	} {
		out[name] = schema.StringAttribute{
			Required: true, MarkdownDescription: description,
			Validators:    []validator.String{checked{check: checkName}},
			PlanModifiers: []planmodifier.String{requiresReplace.text()},
		}
	}
	computed := func(description string, modifiers ...planmodifier.String) schema.Attribute {
		return schema.StringAttribute{Computed: true, MarkdownDescription: description, PlanModifiers: modifiers}
	}
	out["id"] = computed("Identity, never used again for another object.", keepsState.text())
	out["created_at"] = computed("When the object was made, RFC 3339.", keepsState.text())
	out["updated_at"] = computed("When the object was last changed, RFC 3339.")
	out["revision"] = schema.Int64Attribute{Computed: true, MarkdownDescription: "Number of changes, from 1."}
	return out
}

func checkName(text string) string {
	if cloudapi.ValidName(text) {
		return ""
	}
	return cloudapi.NameRule
}

// fields makes the attributes and blocks of an object. Only at the top does the
// state say what an element was before: elements of lists have no identity.
func fields(attributes []cloudapi.Attribute, top bool) (map[string]schema.Attribute, map[string]schema.Block) {
	outAttributes := make(map[string]schema.Attribute)
	outBlocks := make(map[string]schema.Block)
	for i := range attributes {
		attribute := &attributes[i]
		if attribute.Block {
			outBlocks[attribute.Name] = block(attribute)
		} else {
			outAttributes[attribute.Name] = field(attribute, newTraits(attribute, top))
		}
	}
	return outAttributes, outBlocks
}

func block(a *cloudapi.Attribute) schema.Block {
	attributes, blocks := fields(a.Fields, false)
	object := schema.NestedBlockObject{Attributes: attributes, Blocks: blocks}
	switch a.Shape {
	case cloudapi.NestedOne:
		return schema.SingleNestedBlock{MarkdownDescription: a.Description, Attributes: optional(attributes), Blocks: blocks}
	case cloudapi.NestedSet:
		return schema.SetNestedBlock{MarkdownDescription: a.Description, NestedObject: object}
	default:
		out := schema.ListNestedBlock{MarkdownDescription: a.Description, NestedObject: object}
		if a.Presence == cloudapi.Required {
			out.Validators = append(out.Validators, listvalidator.IsRequired(), listvalidator.SizeAtLeast(1))
		}
		return out
	}
}

// optional loosens what a single block requires: the framework asks for it even
// where the block is absent, so the cloud is left to ask.
func optional(attributes map[string]schema.Attribute) map[string]schema.Attribute {
	for name, attribute := range attributes {
		if number, ok := attribute.(schema.Int64Attribute); ok {
			number.Required, number.Optional = false, true
			attributes[name] = number
		}
	}
	return attributes
}

// field makes an attribute that is not a block.
func field(a *cloudapi.Attribute, t traits) schema.Attribute {
	switch a.Shape {
	case cloudapi.String:
		return stringField(a, t)
	case cloudapi.Int:
		return intField(a, t)
	case cloudapi.Float:
		out := schema.Float64Attribute{Required: t.required, Optional: t.optional, Computed: t.computed, MarkdownDescription: a.Description}
		if value, ok := a.Default.(float64); ok {
			out.Default = float64default.StaticFloat64(value)
		}
		return out
	case cloudapi.Bool:
		out := schema.BoolAttribute{Required: t.required, Optional: t.optional, Computed: t.computed, MarkdownDescription: a.Description, PlanModifiers: t.bools()}
		if value, ok := a.Default.(bool); ok {
			out.Default = booldefault.StaticBool(value)
		}
		return out
	case cloudapi.StringMap:
		return schema.MapAttribute{ElementType: types.StringType, Required: t.required, Optional: t.optional, Computed: t.computed, MarkdownDescription: a.Description, PlanModifiers: t.maps()}
	case cloudapi.NestedOne, cloudapi.NestedList, cloudapi.NestedSet:
		return nestedField(a, t)
	default:
		return sequenceField(a, t)
	}
}

func stringField(a *cloudapi.Attribute, t traits) schema.Attribute {
	out := schema.StringAttribute{
		Required: t.required, Optional: t.optional, Computed: t.computed, Sensitive: a.Sensitive,
		MarkdownDescription: a.Description, PlanModifiers: t.strings(),
	}
	if value, ok := a.Default.(string); ok {
		out.Default = stringdefault.StaticString(value)
	}
	if len(a.OneOf) > 0 {
		out.Validators = append(out.Validators, stringvalidator.OneOf(a.OneOf...))
	}
	if a.Check != nil {
		out.Validators = append(out.Validators, checked{check: a.Check})
	}
	return out
}

func intField(a *cloudapi.Attribute, t traits) schema.Attribute {
	out := schema.Int64Attribute{
		Required: t.required, Optional: t.optional, Computed: t.computed,
		MarkdownDescription: a.Description, PlanModifiers: t.ints(),
	}
	if value, ok := a.Default.(int64); ok {
		out.Default = int64default.StaticInt64(value)
	}
	if a.Max > 0 {
		out.Validators = append(out.Validators, int64validator.Between(a.Min, a.Max))
	}
	return out
}

func sequenceField(a *cloudapi.Attribute, t traits) schema.Attribute {
	switch a.Shape {
	case cloudapi.StringSet:
		return schema.SetAttribute{ElementType: types.StringType, Required: t.required, Optional: t.optional, Computed: t.computed, MarkdownDescription: a.Description}
	case cloudapi.IntSet:
		return schema.SetAttribute{ElementType: types.Int64Type, Required: t.required, Optional: t.optional, Computed: t.computed, MarkdownDescription: a.Description}
	default:
		return schema.ListAttribute{ElementType: types.StringType, Required: t.required, Optional: t.optional, Computed: t.computed, MarkdownDescription: a.Description}
	}
}

func nestedField(a *cloudapi.Attribute, t traits) schema.Attribute {
	if a.Shape == cloudapi.NestedOne {
		attributes, _ := fields(a.Fields, true)
		return schema.SingleNestedAttribute{Attributes: attributes, Required: t.required, Optional: t.optional, Computed: t.computed, MarkdownDescription: a.Description, PlanModifiers: t.objects()}
	}
	attributes, _ := fields(a.Fields, false)
	object := schema.NestedAttributeObject{Attributes: attributes}
	if a.Shape == cloudapi.NestedSet {
		return schema.SetNestedAttribute{NestedObject: object, Required: t.required, Optional: t.optional, Computed: t.computed, MarkdownDescription: a.Description}
	}
	return schema.ListNestedAttribute{NestedObject: object, Required: t.required, Optional: t.optional, Computed: t.computed, MarkdownDescription: a.Description}
}

package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema/boolplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/mapplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/objectplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/towline/terraform-provider-towline/internal/simcloud/cloudapi"
)

// modifier is a plan modifier that exists for every type.
type modifier int

const (
	requiresReplace modifier = iota
	keepsState
)

func (m modifier) text() planmodifier.String {
	if m == requiresReplace {
		return stringplanmodifier.RequiresReplace()
	}
	return stringplanmodifier.UseStateForUnknown()
}

// traits are what an attribute's presence means to Terraform.
type traits struct {
	required, optional, computed bool
	modifiers                    []modifier
}

func newTraits(a *cloudapi.Attribute, top bool) traits {
	t := traits{
		required: a.Presence == cloudapi.Required,
		optional: a.Presence != cloudapi.Required && a.Presence != cloudapi.Computed,
		computed: a.Presence == cloudapi.Defaulted || a.Presence == cloudapi.Adopted || a.Presence == cloudapi.Computed,
	}
	if a.Replaces {
		t.modifiers = append(t.modifiers, requiresReplace)
	}
	if top && (a.Presence == cloudapi.Adopted || a.Stable) {
		t.modifiers = append(t.modifiers, keepsState)
	}
	return t
}

// pick turns the traits' modifiers into those of one type.
func pick[T any](t traits, replace, keep T) []T {
	var out []T
	for _, m := range t.modifiers {
		if m == requiresReplace {
			out = append(out, replace)
		} else {
			out = append(out, keep)
		}
	}
	return out
}

func (t traits) strings() []planmodifier.String {
	return pick(t, stringplanmodifier.RequiresReplace(), stringplanmodifier.UseStateForUnknown())
}

func (t traits) ints() []planmodifier.Int64 {
	return pick(t, int64planmodifier.RequiresReplace(), int64planmodifier.UseStateForUnknown())
}

func (t traits) bools() []planmodifier.Bool {
	return pick(t, boolplanmodifier.RequiresReplace(), boolplanmodifier.UseStateForUnknown())
}

func (t traits) maps() []planmodifier.Map {
	return pick(t, mapplanmodifier.RequiresReplace(), mapplanmodifier.UseStateForUnknown())
}

func (t traits) objects() []planmodifier.Object {
	return pick(t, objectplanmodifier.RequiresReplace(), objectplanmodifier.UseStateForUnknown())
}

// checked is a validator with the cloud's own rule, so that a plan already says what the cloud would.
type checked struct{ check func(string) string }

var _ validator.String = checked{}

// Description names the validator's purpose.
func (c checked) Description(context.Context) string { return "must be what the cloud accepts" }

// MarkdownDescription is as Description.
func (c checked) MarkdownDescription(ctx context.Context) string { return c.Description(ctx) }

// ValidateString reports the rule that the text breaks.
func (c checked) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	if rule := c.check(req.ConfigValue.ValueString()); rule != "" {
		resp.Diagnostics.AddAttributeError(req.Path, "Attribute is not valid",
			"The value "+rule+", because the cloud would refuse it otherwise.")
	}
}

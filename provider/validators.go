package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/towline/terraform-provider-towline/internal/control"
)

// textRule is a validator of text by a rule that returns what the text must be.
type textRule struct {
	summary string
	check   func(string) error
}

var _ validator.String = textRule{}

var (
	nameRule = textRule{"Name is not valid", control.ValidateName}
	urlRule  = textRule{"Repository URL is not valid", checkURL}
)

// Description says what the rule is for.
func (r textRule) Description(context.Context) string { return "must follow the rule of its field" }

// MarkdownDescription is as Description.
func (r textRule) MarkdownDescription(ctx context.Context) string { return r.Description(ctx) }

// ValidateString reports the rule that the text breaks.
func (r textRule) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	if err := r.check(req.ConfigValue.ValueString()); err != nil {
		resp.Diagnostics.AddAttributeError(req.Path, r.summary, "The value "+err.Error()+".")
	}
}

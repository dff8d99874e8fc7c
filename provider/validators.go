package provider

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
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

// exactlyOneOf asks for one of the attributes of the same object. Put it on each of them.
func exactlyOneOf(names ...string) validator.String {
	paths := make([]path.Expression, len(names))
	for i, name := range names {
		paths[i] = path.MatchRelative().AtParent().AtName(name)
	}
	return stringvalidator.ExactlyOneOf(paths...)
}

// explain replaces an error's text by words for users.
func explain(err error, text string) error {
	if err == nil {
		return nil
	}
	return errors.New(text)
}

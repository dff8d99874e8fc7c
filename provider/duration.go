package provider

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/attr/xattr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/towline/terraform-provider-towline/internal/control"
)

// durationType is text in Go's duration syntax. "90s" and "1m30s" are equal, so
// that how a document writes a duration never shows as a change.
type durationType struct{ basetypes.StringType }

var _ basetypes.StringTypable = durationType{}

// Equal tells whether the other type is this one.
func (t durationType) Equal(other attr.Type) bool {
	_, ok := other.(durationType)
	return ok
}

// String names the type.
func (t durationType) String() string { return "durationType" }

// ValueType returns an empty value of the type.
func (t durationType) ValueType(context.Context) attr.Value { return duration{} }

// ValueFromString wraps a string.
func (t durationType) ValueFromString(_ context.Context, in basetypes.StringValue) (basetypes.StringValuable, diag.Diagnostics) {
	return duration{in}, nil
}

// ValueFromTerraform wraps what Terraform sends.
func (t durationType) ValueFromTerraform(ctx context.Context, in tftypes.Value) (attr.Value, error) {
	value, err := t.StringType.ValueFromTerraform(ctx, in)
	if err != nil {
		return nil, err
	}
	text, ok := value.(basetypes.StringValue)
	if !ok {
		return nil, fmt.Errorf("a duration arrived as %T", value)
	}
	return duration{text}, nil
}

// duration is a value of durationType.
type duration struct{ basetypes.StringValue }

var (
	_ basetypes.StringValuableWithSemanticEquals = duration{}
	_ xattr.ValidateableAttribute                = duration{}
)

// Type returns durationType.
func (d duration) Type(context.Context) attr.Type { return durationType{} }

// Equal compares the texts.
func (d duration) Equal(other attr.Value) bool {
	o, ok := other.(duration)
	return ok && d.StringValue.Equal(o.StringValue)
}

// StringSemanticEquals compares the times that the texts mean.
func (d duration) StringSemanticEquals(_ context.Context, other basetypes.StringValuable) (bool, diag.Diagnostics) {
	o, ok := other.(duration)
	if !ok {
		return false, nil
	}
	own, ownErr := time.ParseDuration(d.ValueString())
	its, itsErr := time.ParseDuration(o.ValueString())
	return ownErr == nil && itsErr == nil && own == its, nil
}

// ValidateAttribute refuses text that means no time; how long it may be is for the document to say.
func (d duration) ValidateAttribute(_ context.Context, req xattr.ValidateAttributeRequest, resp *xattr.ValidateAttributeResponse) {
	if d.IsNull() || d.IsUnknown() {
		return
	}
	if _, err := time.ParseDuration(d.ValueString()); err != nil {
		resp.Diagnostics.AddAttributeError(req.Path, "Duration is not valid",
			fmt.Sprintf("%q is not a length of time. Write numbers with units, such as \"30s\", \"5m\" or \"1h30m\".", d.ValueString()))
	}
}

// durationOf writes a duration as people do: 24h, not 24h0m0s.
func durationOf(d time.Duration) duration {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return duration{basetypes.NewStringValue(text)}
}

// of returns the time that the text means; null, unknown or not valid is 0.
func (d duration) of() control.Duration {
	parsed, err := time.ParseDuration(d.ValueString())
	if err != nil {
		return 0
	}
	return control.Duration(parsed)
}

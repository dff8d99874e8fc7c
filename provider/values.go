package provider

import (
	"context"
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/towline/terraform-provider-towline/internal/control"
)

// sortedTexts returns a set's texts in the order in which documents hold them.
func sortedTexts(ctx context.Context, set basetypes.SetValue, diags *diag.Diagnostics) []string {
	var texts []string
	diags.Append(set.ElementsAs(ctx, &texts, false)...)
	slices.Sort(texts)
	return texts
}

// textSet is null for no texts: that is how documents write a set that is not set.
func textSet(ctx context.Context, texts []string, diags *diag.Diagnostics) types.Set {
	if len(texts) == 0 {
		return types.SetNull(types.StringType)
	}
	set, moreDiags := types.SetValueFrom(ctx, types.StringType, texts)
	diags.Append(moreDiags...)
	return set
}

func optionalText(text string) types.String {
	if text == "" {
		return types.StringNull()
	}
	return types.StringValue(text)
}

// objectAs reads an object; one that is null or unknown is as if nothing in it were set.
func objectAs[T any](ctx context.Context, object types.Object, diags *diag.Diagnostics) T {
	var out T
	if object.IsNull() || object.IsUnknown() {
		return out
	}
	diags.Append(object.As(ctx, &out, basetypes.ObjectAsOptions{})...)
	return out
}

func objectFrom(ctx context.Context, attributes map[string]attr.Type, value any, diags *diag.Diagnostics) types.Object {
	object, moreDiags := types.ObjectValueFrom(ctx, attributes, value)
	diags.Append(moreDiags...)
	return object
}

// wrongDocument is for a document of another kind than its place says, which
// package control refuses before it gets here.
func wrongDocument(doc control.Declared) diag.Diagnostics {
	return diag.Diagnostics{diag.NewErrorDiagnostic("Document is of another kind",
		fmt.Sprintf("The repository answered with %s. This is a bug in the provider; please report it.", doc.Ref()))}
}

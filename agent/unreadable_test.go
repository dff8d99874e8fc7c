package agent_test

import (
	"context"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// One object that cannot be read does not keep the others from being corrected.
func TestUnreadableObjectIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publish(twoThings + "resource \"cloud_thing\" \"c\" {\n  name = \"c\"\n  size = 3\n}\n")
	w.round(control.OutcomeApplied)
	w.round(control.OutcomeConverged)
	w.cloud.ReadHook = func(_ context.Context, req providers.ReadResourceRequest) providers.ReadResourceResponse {
		if req.PriorState.GetAttr("name").AsString() == "a" {
			return providers.ReadResourceResponse{Diagnostics: tfdiags.New(tfdiags.Error, "No answer", "The API is down.")}
		}
		return w.cloud.ReadDefault(req)
	}
	w.edit("c", "size", cty.NumberIntVal(9))
	receipt := w.round(control.OutcomeFailed)
	if !w.attribute("c", "size").RawEquals(cty.NumberIntVal(3)) {
		t.Error("the other object was not corrected")
	}
	if len(receipt.Changes) != 1 || receipt.Changes[0].Address != "cloud_thing.c" || receipt.Changes[0].Result != "applied" {
		t.Errorf("changes in the receipt: %+v", receipt.Changes)
	}
	if !strings.Contains(receipt.Message, "left alone") || !strings.Contains(receipt.Message, "cloud_thing.a") {
		t.Errorf("message %q", receipt.Message)
	}
	if text := problems(receipt); !strings.Contains(text, "No answer") {
		t.Errorf("problems %q", text)
	}
	w.cloud.ReadHook = nil
	w.round(control.OutcomeConverged)
}

// A new revision takes effect as a whole: nothing of it is applied while an object
// cannot be read.
func TestUnreadableObjectHoldsANewRevision(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publish(twoThings)
	w.round(control.OutcomeApplied)
	w.cloud.ReadHook = func(context.Context, providers.ReadResourceRequest) providers.ReadResourceResponse {
		return providers.ReadResourceResponse{Diagnostics: tfdiags.New(tfdiags.Error, "No answer", "The API is down.")}
	}
	w.publish(twoThings + "resource \"cloud_thing\" \"c\" {\n  name = \"c\"\n}\n")
	if receipt := w.round(control.OutcomeFailed); len(receipt.Changes) > 0 {
		t.Errorf("changes in the receipt: %+v", receipt.Changes)
	}
}

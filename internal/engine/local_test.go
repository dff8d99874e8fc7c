package engine_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/providers"
)

// TestPlansDoNotWaitForTheLastRead has an API that answers one read only, until
// the object of that read is planned: twice as many reads wait as may be under way.
func TestPlansDoNotWaitForTheLastRead(t *testing.T) {
	t.Parallel()
	b, fake := newFakeBench(t)
	b.write(map[string]string{"main.tf": "resource \"fake_thing\" \"t\" {\n  count = 20\n  name = \"t\"\n}\n"})
	b.mustApply(engine.PlanOptions{})
	planned := make(chan struct{})
	var first, plans sync.Once
	fake.ReadHook = func(ctx context.Context, req providers.ReadResourceRequest) providers.ReadResourceResponse {
		answered := false
		first.Do(func() { answered = true })
		if !answered {
			select {
			case <-planned:
			case <-ctx.Done():
			}
		}
		return fake.ReadDefault(req)
	}
	fake.PlanHook = func(_ context.Context, req providers.PlanResourceChangeRequest) providers.PlanResourceChangeResponse {
		plans.Do(func() { close(planned) })
		return fake.PlanDefault(req)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // far more than it takes
	defer cancel()
	plan, diags := b.engine.Plan(ctx, b.load(), b.state, engine.PlanOptions{})
	if diags.HasErrors() {
		t.Fatalf("no object was planned before all were read: %s", diags.Err())
	}
	b.wantActions(plan)
}

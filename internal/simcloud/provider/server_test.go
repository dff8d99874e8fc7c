package provider_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/towline/terraform-provider-towline/internal/simcloud/provider"
)

// What belongs to a call can be collected once the call has ended.
func TestCallsAreForgotten(t *testing.T) {
	t.Parallel()
	server := provider.NewServer("test")
	var collected atomic.Int64
	type keyType struct{}
	const calls = 50
	for range calls {
		held := new([1 << 16]byte)
		runtime.AddCleanup(held, func(int) { collected.Add(1) }, 0)
		ctx := context.WithValue(t.Context(), keyType{}, held)
		if _, err := server.ReadResource(ctx, &tfprotov6.ReadResourceRequest{TypeName: "simcloud_network_rule"}); err != nil {
			t.Fatal(err)
		}
	}
	for range 20 {
		runtime.GC()
	}
	// The last call's may still be on the stack.
	if got := collected.Load(); got < calls-2 {
		t.Errorf("of %d calls that ended, what belongs to %d is held on to", calls, calls-got)
	}
}

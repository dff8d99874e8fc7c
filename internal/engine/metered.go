package engine

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// metered is a provider whose calls to the real API are timed, for the limiter
// and for the estimates of durations. Reads that were throttled are tried again;
// changes are not, because they may have happened in part.
type metered struct {
	providers.Interface
	limiter   *limiter // nil if the number of calls is fixed
	durations *Durations
}

// Retries of throttled reads: eight in all, over about half a minute.
const (
	readRetries    = 8
	firstReadDelay = 250 * time.Millisecond
	maxReadDelay   = 8 * time.Second
)

// ReadResource implements providers.Interface.
func (m *metered) ReadResource(ctx context.Context, req providers.ReadResourceRequest) providers.ReadResourceResponse {
	return retryRead(ctx, m, "read "+req.TypeName, func() (providers.ReadResourceResponse, tfdiags.Diagnostics) {
		resp := m.Interface.ReadResource(ctx, req)
		return resp, resp.Diagnostics
	})
}

// ReadDataSource implements providers.Interface.
func (m *metered) ReadDataSource(ctx context.Context, req providers.ReadDataSourceRequest) providers.ReadDataSourceResponse {
	return retryRead(ctx, m, "data "+req.TypeName, func() (providers.ReadDataSourceResponse, tfdiags.Diagnostics) {
		resp := m.Interface.ReadDataSource(ctx, req)
		return resp, resp.Diagnostics
	})
}

// ListResources implements providers.Interface.
func (m *metered) ListResources(ctx context.Context, req providers.ListResourcesRequest) providers.ListResourcesResponse {
	return retryRead(ctx, m, "list "+req.TypeName, func() (providers.ListResourcesResponse, tfdiags.Diagnostics) {
		resp := m.Interface.ListResources(ctx, req)
		return resp, resp.Diagnostics
	})
}

// OpenEphemeral implements providers.Interface.
func (m *metered) OpenEphemeral(ctx context.Context, req providers.OpenEphemeralRequest) providers.OpenEphemeralResponse {
	began := time.Now()
	resp := m.Interface.OpenEphemeral(ctx, req)
	m.observe("ephemeral "+req.TypeName, time.Since(began), resp.Diagnostics)
	return resp
}

// ApplyResourceChange implements providers.Interface.
func (m *metered) ApplyResourceChange(ctx context.Context, req providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse {
	verb := "update "
	switch {
	case req.PriorState.IsNull():
		verb = "create "
	case req.PlannedState.IsNull():
		verb = "delete "
	}
	began := time.Now()
	resp := m.Interface.ApplyResourceChange(ctx, req)
	m.observe(verb+req.TypeName, time.Since(began), resp.Diagnostics)
	return resp
}

func (m *metered) observe(kind string, took time.Duration, diags tfdiags.Diagnostics) {
	m.durations.observe(kind, took)
	if m.limiter != nil {
		m.limiter.observe(kind, took, throttled(diags))
	}
}

// retryRead makes a read, again if it was throttled.
func retryRead[R any](ctx context.Context, m *metered, kind string, call func() (R, tfdiags.Diagnostics)) R {
	delay := firstReadDelay
	for attempt := 1; ; attempt++ {
		began := time.Now()
		resp, diags := call()
		m.observe(kind, time.Since(began), diags)
		if attempt > readRetries || !throttled(diags) {
			return resp
		}
		timer := time.NewTimer(time.Duration(float64(delay) * (0.5 + rand.Float64())))
		select {
		case <-ctx.Done():
			timer.Stop()
			return resp
		case <-timer.C:
		}
		delay = min(2*delay, maxReadDelay)
	}
}

package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/plugin"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// rawWorkers is how many calls the raw client makes at once: enough for the
// provider, or the machine, to be what it waits for.
const rawWorkers = 100

// rawPlan starts the one provider of a folder and makes the calls of a plan without changes, and does
// nothing else: no program that plans as terraform does can be faster with it.
func (f *folder) rawPlan(ctx context.Context) (took time.Duration, err error) {
	state, err := f.state()
	if err != nil {
		return 0, err
	}
	restore, err := setenv(f.env)
	if err != nil {
		return 0, err
	}
	defer restore()
	begin := time.Now()
	pool, err := f.pool()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	client, schema, err := configured(ctx, pool, state.Resources()[0].Provider.Provider)
	if err != nil {
		return 0, err
	}
	queue := make(chan recorded)
	errs := make([]error, rawWorkers)
	var wait sync.WaitGroup
	for i := range errs {
		wait.Go(func() {
			for r := range queue {
				errs[i] = errors.Join(errs[i], planRaw(ctx, client, schema.ResourceTypes.Get(r.addr.Resource.Type), r))
			}
		})
	}
	state.Each(func(addr addrs.ResourceInstance, _ *states.Resource, inst *states.Instance) {
		queue <- recorded{addr, inst.Current}
	})
	close(queue)
	wait.Wait()
	return time.Since(begin), errors.Join(errs...)
}

// configured starts a provider that needs no configuration.
func configured(ctx context.Context, pool *plugin.Pool, provider addrs.Provider) (providers.Interface, *providers.Schema, error) {
	client, diags := pool.Start(ctx, provider)
	if diags.HasErrors() {
		return nil, nil, diags.Err()
	}
	schema, diags := client.Schema(ctx)
	if diags.HasErrors() {
		return nil, nil, diags.Err()
	}
	config, err := schema.Provider.CoerceValue(cty.EmptyObjectVal)
	if err != nil {
		return nil, nil, fmt.Errorf("configure %s: %w", provider, err)
	}
	return client, schema, client.Configure(ctx, config).Err()
}

// planRaw makes the calls that a plan owes to one object with unchanged configuration.
func planRaw(ctx context.Context, client providers.Interface, schema *providers.ResourceSchema, r recorded) error {
	typeName := r.addr.Resource.Type
	upgraded := client.UpgradeResourceState(ctx, providers.UpgradeResourceStateRequest{TypeName: typeName, Version: r.object.SchemaVersion, RawJSON: r.object.AttrsJSON})
	diags := upgraded.Diagnostics
	if diags.HasErrors() {
		return diags.Err()
	}
	read := client.ReadResource(ctx, providers.ReadResourceRequest{TypeName: typeName, PriorState: upgraded.UpgradedState, Private: r.object.Private})
	config := asConfigured(schema.Block, upgraded.UpgradedState)
	validated := client.ValidateResourceConfig(ctx, typeName, config)
	planned := client.PlanResourceChange(ctx, providers.PlanResourceChangeRequest{
		TypeName: typeName, PriorState: read.NewState, ProposedNewState: read.NewState, Config: config, PriorPrivate: read.Private,
	})
	for _, more := range []tfdiags.Diagnostics{read.Diagnostics, validated, planned.Diagnostics} {
		diags = append(diags, more...)
	}
	if diags.HasErrors() {
		return diags.Err()
	}
	if !planned.PlannedState.RawEquals(upgraded.UpgradedState) || !bytes.Equal(read.Private, r.object.Private) {
		return fmt.Errorf("%s is to change while nothing was to change", r.addr)
	}
	return nil
}

// asConfigured is an object as a configuration would ask for it that sets all
// that can be set.
func asConfigured(schema *providers.Block, object cty.Value) cty.Value {
	attrs := object.AsValueMap()
	for name, attr := range schema.Attributes {
		if attr.Computed && !attr.Optional {
			attrs[name] = cty.NullVal(attr.Type)
		}
	}
	return cty.ObjectVal(attrs)
}

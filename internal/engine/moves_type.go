package engine

import (
	"context"
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// foreign says where an object comes from that a moved block gives to another
// resource type or provider.
type foreign struct {
	provider addrs.Provider
	typeName string
}

// foreignTo returns where a recorded object comes from, nil if it is of the
// resource that it belongs to now.
func (p *planner) foreignTo(addr addrs.ResourceInstance, r *states.Resource, o *object) *foreign {
	was, moved := p.relocation.previous[addr.String()]
	if o == nil || !moved || was.Config().String() == addr.Config().String() {
		return nil // only a block moves what is not the same resource
	}
	from := foreign{provider: r.Provider.Provider, typeName: was.Resource.Type}
	if from.typeName == addr.Resource.Type && from.provider == o.provider.providerAddr.Provider {
		return nil
	}
	return &from
}

// takeOver turns a recorded object of another type into one of its new type. The
// record is kept with the plan as if it had always been so.
func (p *planner) takeOver(ctx context.Context, read *objectRead) tfdiags.Diagnostics {
	resp := read.run.client.MoveResourceState(ctx, providers.MoveResourceStateRequest{
		SourceProvider: read.from.provider.String(), SourceType: read.from.typeName, SourceVersion: read.was.SchemaVersion,
		SourceJSON: read.was.AttrsJSON, SourcePrivate: read.was.Private, TargetType: read.addr.Resource.Type,
	})
	diags := resp.Diagnostics
	if diags.HasErrors() {
		return diags
	}
	if resp.TargetState == cty.NilVal || resp.TargetState.IsNull() {
		return append(diags, providerBug("Invalid resource state transformation", read.addr.String(),
			fmt.Sprintf("it took over an object of type %s and returned none", read.from.typeName))...)
	}
	obj, err := newObject(read.schema, resp.TargetState, nil, objectMeta{
		sensitive: read.was.Sensitive, private: resp.TargetPrivate, dependencies: read.was.Dependencies,
		tainted: read.was.Tainted, createFirst: read.was.CreateBeforeDestroy,
	})
	if err != nil {
		return append(diags, providerBug("Invalid resource state transformation", read.addr.String(), err.Error())...)
	}
	read.was = obj
	provider := read.run.object.providerAddr
	p.mu.Lock()
	defer p.mu.Unlock()
	if read.deposed != "" {
		p.refreshed.SetDeposed(read.addr, read.deposed, provider, obj)
	} else {
		p.refreshed.SetObject(read.addr, provider, obj)
	}
	return diags
}

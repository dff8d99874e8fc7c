package plugin

import (
	"context"
	"os"

	"github.com/towline/terraform-provider-towline/internal/plugin/install"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// DefaultLargeProgram is the size in bytes from which a provider's program is called
// large. Such a program describes more than a thousand types and, when it has been
// asked for them, keeps tens of megabytes more for as long as it runs.
const DefaultLargeProgram = 100 << 20

func isLarge(exe install.Executable, from int64) bool {
	if exe.Reattach != nil {
		return false // it runs already, and another cannot be started
	}
	info, err := os.Stat(exe.Path)
	return err == nil && info.Size() >= from
}

// Schema implements [providers.Interface].
func (i *instance) Schema(ctx context.Context) (*providers.Schema, tfdiags.Diagnostics) {
	return i.schema.get(ctx, func(ctx context.Context) (*providers.Schema, tfdiags.Diagnostics) {
		if i.describesApart() {
			return i.describeApart(ctx)
		}
		p, diags := i.process(ctx, "GetProviderSchema")
		if diags.HasErrors() {
			return nil, diags
		}
		if kept := i.disk.load(i.exe.PackageHash, p.protocol); kept != nil {
			if schema, diags := toSchema(kept, p.protocol); !diags.HasErrors() {
				return schema, diags
			}
		}
		return i.describe(ctx, p)
	})
}

// describe asks a process what the provider has to offer, and keeps the answer for
// later runs.
func (i *instance) describe(ctx context.Context, p *process) (*providers.Schema, tfdiags.Diagnostics) {
	resp, err := p.fetchSchema(ctx)
	if err != nil {
		return nil, i.failure(ctx, p, "GetProviderSchema", err)
	}
	schema, diags := toSchema(resp, p.protocol)
	if !diags.HasErrors() {
		if err := i.disk.store(i.exe.PackageHash, p.protocol, resp); err != nil {
			i.log.Debug("schema not kept", "error", err)
		}
	}
	return schema, diags
}

// describesApart tells whether a process of its own is to be asked for the schema, so
// that the one that works on need not carry what the answer costs it.
func (i *instance) describesApart() bool { return i.large && !i.disk.has(i.exe.PackageHash) }

// describeApart asks a process that is ended afterwards.
func (i *instance) describeApart(ctx context.Context) (*providers.Schema, tfdiags.Diagnostics) {
	p, diags := i.launch(ctx)
	if diags.HasErrors() {
		return nil, diags
	}
	defer i.aside(p.end)
	return i.describe(ctx, p)
}

// foresee begins to ask for a schema that will be needed soon, if another process does it.
func (i *instance) foresee(ctx context.Context) {
	if i.describesApart() && i.schema.known() == nil {
		i.aside(func() { _, _ = i.Schema(ctx) }) // whoever needs it asks again if this fails
	}
}

// aside does something that nobody waits for but Close.
func (i *instance) aside(do func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.isClosed() {
		go do()
		return
	}
	i.background.Go(do)
}

package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/providers/providerstest"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// synthetic is a provider in this process whose calls take as long as they are
// told to. It outlives engines, as an API does.
type synthetic struct {
	*providerstest.Provider
	// read and create are how long the calls of each type take.
	read, create func(typeName string) time.Duration
}

// newSynthetic returns a provider with the given types, each with a computed id
// and an input.
func newSynthetic(types ...string) *synthetic {
	block := &providers.Block{Attributes: map[string]*providers.Attribute{
		"id":    {Type: cty.String, Computed: true},
		"input": {Type: cty.DynamicPseudoType, Optional: true},
	}}
	set := providers.SchemaMap{}
	for _, name := range types {
		set[name] = &providers.ResourceSchema{Block: block}
	}
	none := func(string) time.Duration { return 0 }
	return &synthetic{Provider: providerstest.New(&providers.Schema{Provider: &providers.Block{}, ResourceTypes: set}), read: none, create: none}
}

// Start implements [engine.ProviderSource].
func (s *synthetic) Start(context.Context, addrs.Provider) (providers.Interface, tfdiags.Diagnostics) {
	return s, nil
}

// Close does nothing, see [synthetic].
func (s *synthetic) Close() error { return nil }

// ReadResource implements [providers.Interface].
func (s *synthetic) ReadResource(ctx context.Context, req providers.ReadResourceRequest) providers.ReadResourceResponse {
	time.Sleep(s.read(req.TypeName))
	s.ResetCalls() // the record of calls is for tests
	resp := s.Provider.ReadResource(ctx, req)
	resp.Unchanged = !resp.Diagnostics.HasErrors() && resp.NewState.RawEquals(req.PriorState)
	if resp.Unchanged {
		resp.NewState = req.PriorState
	}
	return resp
}

// ApplyResourceChange implements [providers.Interface].
func (s *synthetic) ApplyResourceChange(ctx context.Context, req providers.ApplyResourceChangeRequest) providers.ApplyResourceChangeResponse {
	time.Sleep(s.create(req.TypeName))
	s.ResetCalls()
	return s.Provider.ApplyResourceChange(ctx, req)
}

// config writes a configuration and loads it, as a new revision is.
func (b *bench) config(name, source string) (*configs.Config, error) {
	dir := filepath.Join(b.opts.Dir, "folders", name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(source), 0o600); err != nil {
		return nil, fmt.Errorf("write a configuration: %w", err)
	}
	config, diags := configs.Load(dir)
	return config, diags.Err()
}

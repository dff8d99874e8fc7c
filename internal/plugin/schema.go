package plugin

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/towline/terraform-provider-towline/internal/plugin/internal/lazyschema"
	"github.com/towline/terraform-provider-towline/internal/plugin/internal/tfplugin5"
	"github.com/towline/terraform-provider-towline/internal/plugin/internal/tfplugin6"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// maxSchema bounds a provider's schema. That of the AWS provider takes 20 MiB.
const maxSchema = 128 << 20

// descriptions keeps what one provider says of itself for all its instances.
type descriptions struct {
	schema     *fetched[providers.Schema]
	identities *fetched[identitySchemas]
}

func newDescriptions() *descriptions {
	return &descriptions{newFetched[providers.Schema]("GetProviderSchema"), newFetched[identitySchemas]("GetResourceIdentitySchemas")}
}

// fetched is the answer to a call that is made once.
type fetched[T any] struct {
	method string
	turn   chan struct{} // holds one token; who has it may fetch
	mu     sync.Mutex
	answer *T
}

func newFetched[T any](method string) *fetched[T] {
	f := &fetched[T]{method: method, turn: make(chan struct{}, 1)}
	f.turn <- struct{}{}
	return f
}

func (f *fetched[T]) known() *T {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.answer
}

// get returns the answer, fetching it if nobody has. Of several callers one
// fetches and the others wait. A failure is not kept: the next caller tries again.
func (f *fetched[T]) get(ctx context.Context, fetch func(context.Context) (*T, tfdiags.Diagnostics)) (*T, tfdiags.Diagnostics) {
	if answer := f.known(); answer != nil {
		return answer, nil
	}
	select {
	case <-f.turn:
	case <-ctx.Done():
		return nil, cancelled(f.method)
	}
	defer func() { f.turn <- struct{}{} }()
	if answer := f.known(); answer != nil {
		return answer, nil
	}
	answer, diags := fetch(ctx)
	if diags.HasErrors() {
		return nil, diags
	}
	f.mu.Lock()
	f.answer = answer
	f.mu.Unlock()
	return answer, diags
}

// fetchSchema asks a process for its schema without decoding it.
func (p *process) fetchSchema(ctx context.Context) (*lazyschema.Response, error) {
	resp := new(lazyschema.Response)
	err := p.conn.Invoke(ctx, tfplugin6.Provider_GetProviderSchema_FullMethodName,
		new(tfplugin6.GetProviderSchema_Request), resp, grpc.MaxCallRecvMsgSize(maxSchema))
	if err == nil {
		p.schemaSent.Store(true)
	}
	return resp, err
}

// toSchema decodes what every user of a provider needs and leaves the schemas of types for later.
func toSchema(resp *lazyschema.Response, protocol int) (*providers.Schema, tfdiags.Diagnostics) {
	diags := rawDiagnostics(resp.GetDiagnostics())
	if diags.HasErrors() {
		return nil, diags
	}
	out := &providers.Schema{
		ResourceTypes: newLazySet(resp.GetResourceSchemas(), protocol),
		DataSources:   newLazySet(resp.GetDataSourceSchemas(), protocol),
		Ephemerals:    newLazySet(resp.GetEphemeralResourceSchemas(), protocol),
		Lists:         newLazySet(resp.GetListResourceSchemas(), protocol),
		Functions:     make(map[string]*providers.FunctionSchema, len(resp.GetFunctions())),
	}
	if err := fillSchema(out, resp, protocol); err != nil {
		return nil, append(diags, invalidSchema(err)...)
	}
	return out, diags
}

func fillSchema(out *providers.Schema, resp *lazyschema.Response, protocol int) error {
	config, err := toResourceSchema(resp.GetProvider(), protocol)
	if err != nil {
		return fmt.Errorf("provider configuration: %w", err)
	}
	out.Provider = config.Block
	if resp.ProviderMeta != nil {
		meta, err := toResourceSchema(resp.GetProviderMeta(), protocol)
		if err != nil {
			return fmt.Errorf("provider_meta: %w", err)
		}
		// An empty block stands for none: some SDKs cannot leave it out.
		if len(meta.Block.Attributes)+len(meta.Block.BlockTypes) > 0 {
			out.ProviderMeta = meta.Block
		}
	}
	for name, raw := range resp.GetFunctions() {
		in := new(tfplugin6.Function)
		if err := proto.Unmarshal(raw, in); err != nil {
			return fmt.Errorf("function %s: %w", name, err)
		}
		if out.Functions[name], err = toFunction(in); err != nil {
			return fmt.Errorf("function %s: %w", name, err)
		}
	}
	caps := new(tfplugin6.ServerCapabilities)
	if err := proto.Unmarshal(resp.GetServerCapabilities(), caps); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	out.Capabilities = providers.Capabilities{
		PlanDestroy: caps.GetPlanDestroy(), SchemaOptional: caps.GetGetProviderSchemaOptional(), MoveResourceState: caps.GetMoveResourceState(),
	}
	return nil
}

func rawDiagnostics(in [][]byte) tfdiags.Diagnostics {
	var out tfdiags.Diagnostics
	for _, raw := range in {
		d := new(tfplugin6.Diagnostic)
		if err := proto.Unmarshal(raw, d); err != nil {
			out = append(out, invalidSchema(err)...)
			continue
		}
		out = append(out, toDiagnostics([]*tfplugin6.Diagnostic{d})...)
	}
	return out
}

func invalidSchema(err error) tfdiags.Diagnostics {
	return tfdiags.New(tfdiags.Error, "Invalid provider schema",
		fmt.Sprintf("The provider describes itself in a way that cannot be used: %s. This is a bug of the provider; report it to its developers, and use another version until it is fixed.", err))
}

// toResourceSchema decodes one schema message.
func toResourceSchema(raw []byte, protocol int) (*providers.ResourceSchema, error) {
	in := new(tfplugin6.Schema)
	if protocol == 5 {
		v5 := new(tfplugin5.Schema)
		if err := proto.Unmarshal(raw, v5); err != nil {
			return nil, err
		}
		in = fromV5(v5)
	} else if err := proto.Unmarshal(raw, in); err != nil {
		return nil, err
	}
	block, err := toBlock(in.GetBlock())
	if err != nil {
		return nil, err
	}
	return &providers.ResourceSchema{Version: in.GetVersion(), Block: block}, nil
}

// lazySet is a [providers.SchemaSet] that decodes a schema when it is first asked for.
type lazySet struct {
	protocol int
	names    []string

	mu      sync.Mutex
	raw     map[string][]byte
	decoded map[string]*providers.ResourceSchema
}

func newLazySet(raw map[string][]byte, protocol int) *lazySet {
	return &lazySet{
		protocol: protocol, names: slices.Sorted(maps.Keys(raw)), raw: raw,
		decoded: make(map[string]*providers.ResourceSchema),
	}
}

// Names implements [providers.SchemaSet].
func (s *lazySet) Names() []string { return slices.Clone(s.names) }

// Get implements [providers.SchemaSet].
func (s *lazySet) Get(typeName string) *providers.ResourceSchema {
	s.mu.Lock()
	defer s.mu.Unlock()
	if schema, ok := s.decoded[typeName]; ok {
		return schema
	}
	raw, ok := s.raw[typeName]
	if !ok {
		return nil
	}
	schema, err := toResourceSchema(raw, s.protocol)
	if err != nil {
		schema = &providers.ResourceSchema{Block: &providers.Block{}, Invalid: err}
	}
	s.decoded[typeName] = schema
	delete(s.raw, typeName)
	return schema
}

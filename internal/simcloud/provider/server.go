package provider

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// NewServer returns the provider as terraform-plugin-go serves it.
func NewServer(version string) tfprotov6.ProviderServer {
	framework := providerserver.NewProtocol6(New(version)())()
	lists, ok := framework.(tfprotov6.ListResourceServer)
	if !ok {
		return framework // of a version that cannot list
	}
	return &server{framework, lists}
}

// server keeps terraform-plugin-framework from holding on to what belongs to a
// call: it registers the context of every call, to cancel it if the provider is to
// stop, and forgets none (proto6server.Server.registerContext). With the loggers
// in it that is more than ten kilobytes a call, in a process that may run for months.
// Only the calls that are made for every object are worth it.
type server struct {
	tfprotov6.ProviderServer
	tfprotov6.ListResourceServer
}

// callContext is the context of a call until that ends. The reference to it may
// be kept; it then leads to nothing.
type callContext struct {
	current atomic.Pointer[context.Context]
}

// ended is the context of all calls that have ended.
var ended = func() *context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return &ctx
}()

func (c *callContext) Deadline() (time.Time, bool) { return (*c.current.Load()).Deadline() }
func (c *callContext) Done() <-chan struct{}       { return (*c.current.Load()).Done() }
func (c *callContext) Err() error                  { return (*c.current.Load()).Err() }
func (c *callContext) Value(key any) any           { return (*c.current.Load()).Value(key) }

// during makes a call with a context that ends with it.
func during[Req, Resp any](ctx context.Context, req Req, call func(context.Context, Req) (Resp, error)) (Resp, error) {
	c := &callContext{}
	c.current.Store(&ctx)
	defer c.current.Store(ended)
	return call(c, req)
}

// UpgradeResourceState implements [tfprotov6.ResourceServer], as all that follow.
func (s *server) UpgradeResourceState(ctx context.Context, req *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.UpgradeResourceStateResponse, error) {
	return during(ctx, req, s.ProviderServer.UpgradeResourceState)
}

func (s *server) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	return during(ctx, req, s.ProviderServer.ReadResource)
}

func (s *server) ValidateResourceConfig(ctx context.Context, req *tfprotov6.ValidateResourceConfigRequest) (*tfprotov6.ValidateResourceConfigResponse, error) {
	return during(ctx, req, s.ProviderServer.ValidateResourceConfig)
}

func (s *server) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	return during(ctx, req, s.ProviderServer.PlanResourceChange)
}

func (s *server) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	return during(ctx, req, s.ProviderServer.ApplyResourceChange)
}

func (s *server) ReadDataSource(ctx context.Context, req *tfprotov6.ReadDataSourceRequest) (*tfprotov6.ReadDataSourceResponse, error) {
	return during(ctx, req, s.ProviderServer.ReadDataSource)
}

// ListResource ends its call when the last result was taken.
func (s *server) ListResource(ctx context.Context, req *tfprotov6.ListResourceRequest) (*tfprotov6.ListResourceServerStream, error) {
	c := &callContext{}
	c.current.Store(&ctx)
	stream, err := s.ListResourceServer.ListResource(c, req)
	if err != nil || stream == nil || stream.Results == nil {
		c.current.Store(ended)
		return stream, err
	}
	results := stream.Results
	return &tfprotov6.ListResourceServerStream{Results: func(push func(tfprotov6.ListResourceResult) bool) {
		defer c.current.Store(ended)
		results(push)
	}}, nil
}

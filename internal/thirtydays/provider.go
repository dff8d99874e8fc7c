package thirtydays

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/agent"
	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/plugin"
	"github.com/towline/terraform-provider-towline/internal/plugin/install"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/simcloud"
	"github.com/towline/terraform-provider-towline/internal/simcloud/cloudapi"
	"github.com/towline/terraform-provider-towline/internal/simcloud/provider"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// served is the simulated cloud's provider in this process, behind the same protocol
// as a process of its own.
type served struct {
	reattach *install.Reattach
	end      context.CancelFunc
	ended    <-chan struct{}
}

// silence keeps the provider's libraries from logging every call, as whoever starts
// providers as programs tells them.
var silence = sync.OnceValue(func() error {
	var errs []error
	for _, name := range []string{"TF_LOG_SDK", "TF_LOG_SDK_PROTO", "TF_LOG_SDK_FRAMEWORK", "TF_LOG_PROVIDER_SIMCLOUD"} {
		errs = append(errs, os.Setenv(name, "off"))
	}
	return errors.Join(errs...)
})

// serve starts the provider.
func serve() (*served, error) {
	if err := silence(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	configs, closed := make(chan *goplugin.ReattachConfig, 1), make(chan struct{})
	failed := make(chan error, 1)
	go func() {
		failed <- tf6server.Serve(provider.Address, func() tfprotov6.ProviderServer { return provider.NewServer("0.1.0") },
			tf6server.WithDebug(ctx, configs, closed), tf6server.WithGoPluginLogger(hclog.NewNullLogger()), tf6server.WithoutLogStderrOverride())
	}()
	select {
	case config := <-configs:
		return &served{&install.Reattach{ProtocolVersion: config.ProtocolVersion, Pid: config.Pid, Addr: config.Addr}, cancel, closed}, nil
	case err := <-failed:
		cancel()
		return nil, fmt.Errorf("serve the provider: %w", err)
	}
}

func (s *served) close() {
	s.end()
	<-s.ended
}

// Locate implements [plugin.Locator].
func (s *served) Locate(context.Context, addrs.Provider) (install.Executable, tfdiags.Diagnostics) {
	return install.Executable{Reattach: s.reattach}, nil
}

// program is the provider as a program, started for each configuration.
type program string

// Locate implements [plugin.Locator].
func (p program) Locate(context.Context, addrs.Provider) (install.Executable, tfdiags.Diagnostics) {
	return install.Executable{Path: string(p)}, nil
}

// source starts providers for agents.
type source struct {
	*plugin.Pool
	// cloud answers reads of what has not changed in this process; nil asks the provider always.
	cloud *simcloud.Cloud
}

// Start implements [engine.ProviderSource].
func (s source) Start(ctx context.Context, addr addrs.Provider) (providers.Interface, tfdiags.Diagnostics) {
	started, diags := s.Pool.Start(ctx, addr)
	if diags.HasErrors() || s.cloud == nil {
		return started, diags
	}
	return &quick{Interface: started, cloud: s.cloud, read: map[cloudapi.Ref]seen{}}, diags
}

// providersOf returns what an agent finds providers by.
func providersOf(locator plugin.Locator, cloud *simcloud.Cloud) agent.Providers {
	return func(string, agent.Requirements) (engine.ProviderSource, io.Closer, tfdiags.Diagnostics) {
		pool := plugin.NewPool(locator, plugin.Options{})
		return source{pool, cloud}, pool, nil
	}
}

// quick answers reads of objects that have not changed since they were read, as a
// cloud answers conditional requests: a replay makes some million of them.
type quick struct {
	providers.Interface
	cloud *simcloud.Cloud

	mu   sync.Mutex
	read map[cloudapi.Ref]seen
}

// seen is an object as it was read last.
type seen struct {
	id       string
	revision int64
	state    cty.Value
}

// ReadResource asks the provider only for what has changed.
func (q *quick) ReadResource(ctx context.Context, req providers.ReadResourceRequest) providers.ReadResourceResponse {
	ref, err := refOf(req)
	if err != nil {
		return q.Interface.ReadResource(ctx, req)
	}
	object := q.cloud.Object(ref)
	q.mu.Lock()
	known, ok := q.read[ref]
	q.mu.Unlock()
	if ok && object != nil && known.id == object.ID && known.revision == object.Revision && known.state.RawEquals(req.PriorState) {
		return providers.ReadResourceResponse{NewState: req.PriorState, Encoded: req.PriorEncoded, Private: req.Private, Unchanged: true}
	}
	resp := q.Interface.ReadResource(ctx, req)
	if object != nil && !resp.Diagnostics.HasErrors() {
		q.mu.Lock()
		q.read[ref] = seen{object.ID, object.Revision, resp.NewState}
		q.mu.Unlock()
	}
	return resp
}

var errNoRef = errors.New("the object does not say where it is")

// refOf returns the reference of a recorded object.
func refOf(req providers.ReadResourceRequest) (cloudapi.Ref, error) {
	const prefix = "simcloud_"
	if len(req.TypeName) < len(prefix) || req.PriorState.IsNull() {
		return cloudapi.Ref{}, errNoRef
	}
	ref := cloudapi.Ref{Kind: req.TypeName[len(prefix):]}
	for name, into := range map[string]*string{"environment": &ref.Environment, "service": &ref.Service, "name": &ref.Name} {
		v := req.PriorState.GetAttr(name)
		if v.IsNull() || !v.IsKnown() {
			return cloudapi.Ref{}, errNoRef
		}
		*into = v.AsString()
	}
	return ref, nil
}

package plugin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/towline/terraform-provider-towline/internal/plugin/install"
	"github.com/towline/terraform-provider-towline/internal/plugin/internal/tfplugin6"
)

const (
	// startTimeout is how long a provider may take until it answers the
	// handshake. Large providers on a busy machine need tens of seconds.
	startTimeout = 2 * time.Minute
	// exitWait is how long to wait for a process to end after its connection broke.
	exitWait = 2 * time.Second
	// killAfter is how long a graceful end may take before the process is killed.
	killAfter = 5 * time.Second
	// maxAnswer bounds one answer of a provider, the schema apart.
	maxAnswer = 256 << 20
	// defaultProtocol is that of development providers which do not say.
	defaultProtocol = 5
)

// The handshake that every Terraform provider expects.
var handshake = goplugin.HandshakeConfig{
	ProtocolVersion:  4,
	MagicCookieKey:   "TF_PLUGIN_MAGIC_COOKIE",
	MagicCookieValue: "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2",
}

const pluginName = "provider"

// connPlugin makes go-plugin hand out the bare connection.
type connPlugin struct {
	goplugin.NetRPCUnsupportedPlugin
}

// GRPCServer implements goplugin.GRPCPlugin; this side serves nothing.
func (connPlugin) GRPCServer(*goplugin.GRPCBroker, *grpc.Server) error {
	return errors.New("providers are not served from here")
}

// GRPCClient implements goplugin.GRPCPlugin.
func (connPlugin) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return conn, nil
}

// process is one running provider, or one that somebody else runs for us.
type process struct {
	client   *goplugin.Client
	cmd      *exec.Cmd // nil if somebody else runs it
	rpc      tfplugin6.ProviderClient
	conn     namedConn
	protocol int
	stderr   *stderrSink

	traffic

	// schemaSent says that the process has been asked for its schema.
	schemaSent atomic.Bool
	dead       atomic.Bool
	// overgrown is the size for which the process was ended, 0 if it was not.
	overgrown atomic.Uint64
	endOnce   sync.Once
}

// startProcess starts a provider, or connects to a running one, and waits until
// it answers. If ctx is cancelled first the process is ended in the background.
func startProcess(ctx context.Context, exe install.Executable, environ []string, log *slog.Logger) (*process, error) {
	p := &process{stderr: &stderrSink{log: log}}
	p.client = goplugin.NewClient(p.clientConfig(exe, environ))
	connected := make(chan error, 1)
	go func() { connected <- p.connect(exe) }()
	select {
	case err := <-connected:
		if err != nil {
			p.end() // and what the process wrote is complete
			return nil, &startError{err: err, stderr: p.stderr.last()}
		}
		return p, nil
	case <-ctx.Done():
		go func() {
			<-connected //nolint:errcheck // nobody waits for the answer any more
			p.end()
		}()
		return nil, ctx.Err()
	}
}

// startError is a failed start with what the process wrote about it.
type startError struct {
	err    error
	stderr string
}

func (e *startError) Error() string { return e.err.Error() }

func (e *startError) Unwrap() error { return e.err }

func (p *process) clientConfig(exe install.Executable, environ []string) *goplugin.ClientConfig {
	plugins := goplugin.PluginSet{pluginName: connPlugin{}}
	config := &goplugin.ClientConfig{
		HandshakeConfig:  handshake,
		VersionedPlugins: map[int]goplugin.PluginSet{5: plugins, 6: plugins},
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		AutoMTLS:         os.Getenv("TF_DISABLE_PLUGIN_TLS") == "",
		StartTimeout:     startTimeout,
		Stderr:           p.stderr,
		SyncStdout:       p.stderr,
		SyncStderr:       p.stderr,
		Logger:           hclog.NewNullLogger(),
		GRPCDialOptions:  []grpc.DialOption{grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxAnswer))},
	}
	if exe.Reattach == nil {
		p.cmd = exec.Command(exe.Path) //nolint:gosec // the path comes from a verified package or the user's own override
		p.cmd.Env = environ
		endWithUs(p.cmd)
		config.Cmd = p.cmd
		return config
	}
	config.Plugins, config.AutoMTLS = plugins, false
	config.Reattach = &goplugin.ReattachConfig{
		Protocol:        goplugin.ProtocolGRPC,
		ProtocolVersion: protocolOf(exe.Reattach),
		Pid:             exe.Reattach.Pid,
		Addr:            exe.Reattach.Addr,
		Test:            true, // never end a process that we did not start
	}
	return config
}

func protocolOf(r *install.Reattach) int {
	if r.ProtocolVersion == 0 {
		return defaultProtocol
	}
	return r.ProtocolVersion
}

func (p *process) connect(exe install.Executable) error {
	client, err := p.client.Client()
	if err != nil {
		return fmt.Errorf("cannot start the provider: %w", err)
	}
	raw, err := client.Dispense(pluginName)
	if err != nil {
		return fmt.Errorf("cannot connect to the provider: %w", err)
	}
	conn, ok := raw.(*grpc.ClientConn)
	if !ok {
		return fmt.Errorf("cannot connect to the provider: got a %T", raw)
	}
	p.protocol = p.client.NegotiatedVersion()
	if exe.Reattach != nil {
		p.protocol = protocolOf(exe.Reattach)
	}
	if p.protocol != 5 && p.protocol != 6 {
		return fmt.Errorf("the provider speaks protocol %d, and only 5 and 6 are supported", p.protocol)
	}
	p.conn = namedConn{ClientConnInterface: conn, protocol: p.protocol}
	p.rpc = tfplugin6.NewProviderClient(p.conn)
	return nil
}

// exited tells whether the process is gone. After a broken connection it gives
// the process a moment to end, so that its last words are complete.
func (p *process) exited(wait time.Duration) bool {
	timeout := time.NewTimer(wait)
	defer timeout.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !p.client.Exited() {
		select {
		case <-timeout.C:
			return false
		case <-tick.C:
		}
	}
	return true
}

// end ends the process: politely first, by force if that takes too long. It
// returns when the process is gone. A process of somebody else's is left alone.
func (p *process) end() {
	p.endOnce.Do(func() {
		p.dead.Store(true)
		done := make(chan struct{})
		go func() {
			defer close(done)
			p.client.Kill()
		}()
		timer := time.NewTimer(killAfter)
		defer timer.Stop()
		select {
		case <-done:
		case <-timer.C:
			// A stopped process does not even answer the request to shut down.
			if p.cmd != nil && p.cmd.Process != nil {
				_ = p.cmd.Process.Kill() // an error means that it has ended
			}
			<-done
		}
	})
}

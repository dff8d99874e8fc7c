package plugin

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// failure turns a failed call into a diagnostic, and notes whether the process
// is still usable.
func (i *instance) failure(ctx context.Context, p *process, method string, err error) tfdiags.Diagnostics {
	if i.isClosed() {
		return closedDiags(method)
	}
	wait := exitWait
	if ctx.Err() != nil {
		wait = 0 // the call was given up, which says nothing about the process
	}
	// Whether a process of somebody else's still runs cannot be seen for certain.
	foreign := p.cmd == nil && ctx.Err() == nil
	if p.dead.Load() || broken(err) && (foreign || p.exited(wait)) {
		p.dead.Store(true)
		return crashed(method, p)
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded) || status.Code(err) == codes.DeadlineExceeded:
		return tfdiags.New(tfdiags.Error, "Plugin did not respond",
			fmt.Sprintf("The provider did not answer the %s call in time. It may be waiting for a service that does not answer; its log may say more.", method))
	case ctx.Err() != nil:
		return cancelled(method)
	}
	switch status.Code(err) {
	case codes.Unavailable:
		return tfdiags.New(tfdiags.Error, "Plugin did not respond",
			fmt.Sprintf("The connection to the provider broke during the %s call, although the provider still runs. Try again; if it happens again, the provider's log may say more.", method))
	case codes.Unimplemented:
		return tfdiags.New(tfdiags.Error, "Unsupported plugin method",
			fmt.Sprintf("The provider does not support the %s call. A newer version of the provider may.", method))
	default:
		return tfdiags.New(tfdiags.Error, "Plugin error",
			fmt.Sprintf("The provider failed in the %s call: %s. This is a bug of the provider or of what it runs on; its log may say more.", method, status.Convert(err).Message()))
	}
}

// broken tells whether an error can mean that the process is gone.
func broken(err error) bool {
	code := status.Code(err)
	return code == codes.Unavailable || code == codes.Canceled
}

func crashed(method string, p *process) tfdiags.Diagnostics {
	if size := p.overgrown.Load(); size > 0 {
		return tfdiags.New(tfdiags.Error, "Plugin did not respond", fmt.Sprintf(
			"The provider's process was ended during the %s call, because it held %d MiB of memory, more than it may. The provider is started again for the next call. If it needs so much, allow it with provider_memory_mib in the agent's configuration.", method, size>>20))
	}
	detail := fmt.Sprintf("The provider's process ended during the %s call. This is a bug of the provider, or something stopped the process, such as a lack of memory.", method)
	if p.cmd != nil {
		detail += " The provider is started again for the next call." + lastWords(p.stderr.last())
	}
	return tfdiags.New(tfdiags.Error, "Plugin did not respond", detail)
}

func lastWords(stderr string) string {
	if stderr == "" {
		return " It wrote nothing about the reason."
	}
	return "\n\nThe last that it wrote:\n" + stderr
}

func cancelled(method string) tfdiags.Diagnostics {
	return tfdiags.New(tfdiags.Error, "Request cancelled",
		fmt.Sprintf("The %s call was cancelled before the provider answered.", method))
}

func closedDiags(method string) tfdiags.Diagnostics {
	return tfdiags.New(tfdiags.Error, "Provider is closed",
		fmt.Sprintf("The %s call came after the provider had been ended.", method))
}

func startFailed(err error) tfdiags.Diagnostics {
	detail := fmt.Sprintf("The provider's program did not start as a provider: %s. Check that it is made for this operating system and processor and that it may be executed.", err)
	var failed *startError
	if errors.As(err, &failed) && failed.stderr != "" {
		detail += lastWords(failed.stderr)
	}
	return tfdiags.New(tfdiags.Error, "Failed to start provider", detail)
}

// invalidAnswer is for answers that break the protocol's rules.
func invalidAnswer(method, typeName string, err error) tfdiags.Diagnostics {
	return tfdiags.New(tfdiags.Error, "Invalid provider response",
		fmt.Sprintf("The provider answered the %s call for %s in a way that breaks its own schema: %s. This is a bug of the provider; report it to its developers.", method, typeName, err))
}

// invalidRequest is for values that cannot be sent: a bug of the caller.
func invalidRequest(method, typeName string, err error) tfdiags.Diagnostics {
	return tfdiags.New(tfdiags.Error, "Invalid provider request",
		fmt.Sprintf("The %s call for %s could not be made: %s. This is a bug of Towline; please report it.", method, typeName, err))
}

package install

import "net"

// Executable is how to get hold of a running provider.
type Executable struct {
	// Path is the provider's program.
	Path string
	// Version is "" if it is not known, as for development overrides.
	Version string
	// Reattach is set instead of Path if somebody else runs the provider.
	Reattach *Reattach
}

// Reattach is a provider process that somebody else runs, such as a debugger.
type Reattach struct {
	ProtocolVersion int
	Pid             int
	Addr            net.Addr
}

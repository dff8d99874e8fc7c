package plugin

import (
	"context"
	"strings"

	"google.golang.org/grpc"

	"github.com/towline/terraform-provider-towline/internal/plugin/internal/tfplugin5"
	"github.com/towline/terraform-provider-towline/internal/plugin/internal/tfplugin6"
)

// The two protocols differ in the names of some calls and in the schema; all
// other messages are the same on the wire (a test compares them field by
// field). So there is one client, that of protocol 6, and a connection that
// gives its calls the names that the provider knows.

// namesInV5 maps calls of protocol 6 to those of protocol 5 that are named otherwise.
var namesInV5 = map[string]string{
	tfplugin6.Provider_GetProviderSchema_FullMethodName:          tfplugin5.Provider_GetSchema_FullMethodName,
	tfplugin6.Provider_ValidateProviderConfig_FullMethodName:     tfplugin5.Provider_PrepareProviderConfig_FullMethodName,
	tfplugin6.Provider_ValidateResourceConfig_FullMethodName:     tfplugin5.Provider_ValidateResourceTypeConfig_FullMethodName,
	tfplugin6.Provider_ValidateDataResourceConfig_FullMethodName: tfplugin5.Provider_ValidateDataSourceConfig_FullMethodName,
	tfplugin6.Provider_ConfigureProvider_FullMethodName:          tfplugin5.Provider_Configure_FullMethodName,
	tfplugin6.Provider_StopProvider_FullMethodName:               tfplugin5.Provider_Stop_FullMethodName,
}

// namedConn is a connection to a provider of one protocol version.
type namedConn struct {
	grpc.ClientConnInterface
	protocol int
}

// Invoke makes a call under the name that the provider's protocol gives it.
func (c namedConn) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	return c.ClientConnInterface.Invoke(ctx, wireName(method, c.protocol), args, reply, opts...)
}

// NewStream begins a call whose answers are many, under the name that the provider's
// protocol gives it.
func (c namedConn) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	return c.ClientConnInterface.NewStream(ctx, desc, wireName(method, c.protocol), opts...)
}

// wireName returns the name on the wire of a call of our stubs for protocol 6.
func wireName(method string, protocol int) string {
	if protocol == 5 {
		if v5, ok := namesInV5[method]; ok {
			method = v5
		} else {
			method = strings.Replace(method, "tfplugin6", "tfplugin5", 1)
		}
	}
	return strings.Replace(method, "/towline.", "/", 1)
}

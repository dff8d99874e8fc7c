package plugin

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/towline/terraform-provider-towline/internal/plugin/internal/lazyschema"
	"github.com/towline/terraform-provider-towline/internal/plugin/internal/tfplugin5"
	"github.com/towline/terraform-provider-towline/internal/plugin/internal/tfplugin6"
)

// One client serves both protocols because their messages are the same on the
// wire. Only schemas differ, and those are decoded by protocol.
func TestProtocolsAreTheSameOnTheWire(t *testing.T) {
	t.Parallel()
	v6 := tfplugin6.File_tfplugin6_tfplugin6_proto.Services().ByName("Provider").Methods()
	v5 := tfplugin5.File_tfplugin5_tfplugin5_proto.Services().ByName("Provider").Methods()
	if v5.Len() != v6.Len() {
		t.Errorf("protocol 5 has %d calls, protocol 6 has %d", v5.Len(), v6.Len())
	}
	for i := range v6.Len() {
		method := v6.Get(i)
		name := wireName("/"+string(method.Parent().FullName())+"/"+string(method.Name()), 5)
		service, method5, _ := strings.Cut(strings.TrimPrefix(name, "/"), "/")
		if service != "tfplugin5.Provider" {
			t.Errorf("%s becomes %s", method.Name(), name)
			continue
		}
		old := v5.ByName(protoreflect.Name(method5))
		if old == nil {
			t.Errorf("protocol 5 has no %s", method5)
			continue
		}
		compare(t, string(method.Name())+" request", method.Input(), old.Input())
		compare(t, string(method.Name())+" response", method.Output(), old.Output())
	}
}

// compare checks that what a client of protocol 6 knows means the same in
// protocol 5: every field that both have, and every one that we send or read.
func compare(t *testing.T, where string, six, five protoreflect.MessageDescriptor) {
	t.Helper()
	if six.Name() == "Schema" {
		return
	}
	for i := range six.Fields().Len() {
		field := six.Fields().Get(i)
		other := five.Fields().ByNumber(field.Number())
		switch {
		case other == nil:
			t.Errorf("%s: protocol 5 has no field %d (%s)", where, field.Number(), field.Name())
		case other.Name() != field.Name() || other.Kind() != field.Kind() || other.Cardinality() != field.Cardinality():
			t.Errorf("%s: field %d is %s %s in protocol 6 and %s %s in protocol 5", where, field.Number(), field.Kind(), field.Name(), other.Kind(), other.Name())
		case field.Kind() == protoreflect.MessageKind && strings.Count(where, ".") < 6:
			compare(t, where+"."+string(field.Name()), field.Message(), other.Message())
		}
	}
}

// What is left undecoded must be the same bytes in both.
func TestLazySchemaIsTheSameOnTheWire(t *testing.T) {
	t.Parallel()
	lazy := new(lazyschema.Response).ProtoReflect().Descriptor().Fields()
	for name, full := range map[string]protoreflect.MessageDescriptor{
		"5": new(tfplugin5.GetProviderSchema_Response).ProtoReflect().Descriptor(),
		"6": new(tfplugin6.GetProviderSchema_Response).ProtoReflect().Descriptor(),
	} {
		for i := range full.Fields().Len() {
			field := full.Fields().Get(i)
			other := lazy.ByNumber(field.Number())
			if other == nil || other.Name() != field.Name() || other.IsMap() != field.IsMap() || other.IsList() != field.IsList() {
				t.Errorf("protocol %s: field %s is %v", name, field.Name(), other)
			}
		}
		if full.Fields().Len() != lazy.Len() {
			t.Errorf("protocol %s has %d fields, the lazy message %d", name, full.Fields().Len(), lazy.Len())
		}
	}
}

func TestWireName(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		method   string
		protocol int
		want     string
	}{
		"6":         {tfplugin6.Provider_ConfigureProvider_FullMethodName, 6, "/tfplugin6.Provider/ConfigureProvider"},
		"5 renamed": {tfplugin6.Provider_ConfigureProvider_FullMethodName, 5, "/tfplugin5.Provider/Configure"},
		"5":         {tfplugin6.Provider_ReadResource_FullMethodName, 5, "/tfplugin5.Provider/ReadResource"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := wireName(test.method, test.protocol); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

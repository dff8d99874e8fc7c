package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/towline/terraform-provider-towline/internal/plugin/internal/tfplugin6"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// A listing is a stream of events, one for each object. It is read to its end, to the
// limit or to the first problem. Whatever ends it before is an error: that objects were
// not named says nothing about whether they are there.

const (
	listMethod     = "ListResource"
	identityMethod = "GetResourceIdentitySchemas"
	// maxListBytes bounds all events of a listing: ten thousand objects of three
	// kilobytes each. maxListEvent bounds one of them.
	maxListBytes = 32 << 20
	maxListEvent = 4 << 20
	// maxRemarks is how many events may name no object: they carry warnings.
	maxRemarks = 100
)

// identitySchemas describe what identifies an object, by resource type.
type identitySchemas map[string]*tfplugin6.ResourceIdentitySchema

// identitySchema is that of one type.
type identitySchema struct {
	ty       cty.Type
	required []string
}

// ListResources implements [providers.Interface].
func (i *instance) ListResources(ctx context.Context, req providers.ListResourcesRequest) (resp providers.ListResourcesResponse) {
	config, diags := i.typed(ctx, lists, listMethod, req.TypeName)
	if diags.HasErrors() {
		return providers.ListResourcesResponse{Diagnostics: diags}
	}
	encoded := config.encode(&diags, req.Config)
	objects, moreDiags := i.typed(ctx, resources, listMethod, req.TypeName)
	diags = append(diags, moreDiags...)
	if diags.HasErrors() {
		return providers.ListResourcesResponse{Diagnostics: diags}
	}
	identity, moreDiags := i.identityOf(ctx, req.TypeName)
	if diags = append(diags, moreDiags...); diags.HasErrors() {
		return providers.ListResourcesResponse{Diagnostics: diags}
	}
	limit := providers.MaxListed
	if req.Limit > 0 {
		limit = min(req.Limit, limit)
	}
	message := &tfplugin6.ListResource_Request{
		TypeName: req.TypeName, Config: encoded, IncludeResourceObject: req.IncludeResource, Limit: int64(limit),
	}
	stops := i.stops.Load()
	answer, moreDiags := call(ctx, i, listMethod, func(ctx context.Context, c tfplugin6.ProviderClient) (*listing, error) {
		l := &listing{objects: objects, identity: identity, include: req.IncludeResource, limit: limit}
		return l, l.receive(ctx, c, message)
	})
	if diags = append(diags, moreDiags...); moreDiags.HasErrors() {
		return providers.ListResourcesResponse{Diagnostics: diags}
	}
	diags = append(diags, answer.diags...)
	if i.stops.Load() != stops {
		diags = append(diags, cancelled(listMethod)...) // what it was told to stop may end as if that were all
	}
	if diags.HasErrors() {
		return providers.ListResourcesResponse{Diagnostics: diags}
	}
	return providers.ListResourcesResponse{Listed: answer.listed, RequiredIdentity: identity.required, Full: len(answer.listed) == limit, Diagnostics: diags}
}

// identityOf returns what identifies objects of a type.
func (i *instance) identityOf(ctx context.Context, typeName string) (identitySchema, tfdiags.Diagnostics) {
	all, diags := i.identities.get(ctx, i.fetchIdentities)
	if diags.HasErrors() {
		return identitySchema{}, diags
	}
	in := (*all)[typeName]
	if len(in.GetIdentityAttributes()) == 0 {
		return identitySchema{}, append(diags, invalidAnswer(identityMethod, typeName, errors.New("it lists objects of the type and does not say what identifies one"))...)
	}
	out, err := toIdentity(in)
	if err != nil {
		return out, append(diags, invalidAnswer(identityMethod, typeName, err)...)
	}
	return out, diags
}

func (i *instance) fetchIdentities(ctx context.Context) (*identitySchemas, tfdiags.Diagnostics) {
	answer, diags := call(ctx, i, identityMethod, func(ctx context.Context, c tfplugin6.ProviderClient) (*tfplugin6.GetResourceIdentitySchemas_Response, error) {
		return c.GetResourceIdentitySchemas(ctx, new(tfplugin6.GetResourceIdentitySchemas_Request), grpc.MaxCallRecvMsgSize(maxSchema))
	})
	diags = append(diags, toDiagnostics(answer.GetDiagnostics())...)
	out := identitySchemas(answer.GetIdentitySchemas())
	return &out, diags
}

func toIdentity(in *tfplugin6.ResourceIdentitySchema) (identitySchema, error) {
	var out identitySchema
	types := make(map[string]cty.Type, len(in.GetIdentityAttributes()))
	for _, a := range in.GetIdentityAttributes() {
		ty, err := toType(a.GetType())
		if err != nil {
			return out, fmt.Errorf("%s: %w", a.GetName(), err)
		}
		types[a.GetName()] = ty
		if a.GetRequiredForImport() {
			out.required = append(out.required, a.GetName())
		}
	}
	out.ty = cty.Object(types)
	if len(out.required) == 0 {
		for name := range types {
			out.required = append(out.required, name)
		}
	}
	slices.Sort(out.required)
	return out, nil
}

// listing is what was received of a stream of events.
type listing struct {
	objects  *typed
	identity identitySchema
	include  bool
	limit    int

	listed         []providers.ListedResource
	bytes, remarks int
	diags          tfdiags.Diagnostics
}

// receive reads the events of a listing. The error is that of the call; what is wrong
// with the answer is among the diagnostics.
func (l *listing) receive(ctx context.Context, c tfplugin6.ProviderClient, message *tfplugin6.ListResource_Request) error {
	// The provider is told of no deadline: one that sees it before us ends its stream as
	// if that were all.
	streaming, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel() // which ends a stream that goes on
	defer context.AfterFunc(ctx, cancel)()
	stream, err := c.ListResource(streaming, message, grpc.MaxCallRecvMsgSize(maxListEvent))
	if err != nil {
		return err
	}
	for len(l.listed) < l.limit && !l.diags.HasErrors() {
		event, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		l.take(event)
	}
	return nil
}

// take adds one event.
func (l *listing) take(event *tfplugin6.ListResource_Event) {
	if l.bytes += proto.Size(event); l.bytes > maxListBytes {
		l.refuse(fmt.Errorf("it lists more than %d MiB, and was asked for at most %d objects", maxListBytes>>20, l.limit))
		return
	}
	l.diags = append(l.diags, toDiagnostics(event.GetDiagnostic())...)
	if l.diags.HasErrors() {
		return
	}
	if event.GetIdentity() == nil && len(event.GetDiagnostic()) > 0 {
		if l.remarks++; l.remarks > maxRemarks {
			l.refuse(fmt.Errorf("more than %d of its events name no object", maxRemarks))
		}
		return
	}
	identity, err := decode(event.GetIdentity().GetIdentityData(), l.identity.ty)
	switch {
	case err != nil:
		l.refuse(err)
		return
	case identity.IsNull() || !identity.IsWhollyKnown():
		l.refuse(errors.New("it lists an object without saying what identifies it"))
		return
	}
	found := providers.ListedResource{Identity: identity, DisplayName: event.GetDisplayName(), Resource: cty.NilVal}
	if l.include && event.GetResourceObject() != nil {
		object := l.objects.decodeState(&l.diags, event.GetResourceObject())
		if object != cty.NilVal && !object.IsNull() {
			found.Resource = object
		}
	}
	l.listed = append(l.listed, found)
}

func (l *listing) refuse(err error) {
	l.diags = append(l.diags, invalidAnswer(listMethod, l.objects.typeName, err)...)
}

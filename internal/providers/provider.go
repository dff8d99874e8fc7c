package providers

import (
	"context"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// Interface is one running provider. Every method may be called concurrently,
// except that Configure comes before every method that touches real objects
// and Close comes last.
//
// Values cross this interface without marks: the caller strips marks before and
// re-applies them after a call. Values conform to the implied type of the schema
// block concerned ([Block.ImpliedType]). Problems, also those of a crashed or
// misbehaving process, come back as diagnostics; no method panics on a
// provider's answer.
//
// A cancelled ctx stops waiting for reads and plans. ApplyResourceChange is
// never interrupted: it runs to its end, so that the result is known.
type Interface interface {
	// Schema returns the provider's schemas. The result is shared and must not be changed.
	Schema(ctx context.Context) (*Schema, tfdiags.Diagnostics)

	ValidateProviderConfig(ctx context.Context, config cty.Value) tfdiags.Diagnostics
	ValidateResourceConfig(ctx context.Context, typeName string, config cty.Value) tfdiags.Diagnostics
	ValidateDataSourceConfig(ctx context.Context, typeName string, config cty.Value) tfdiags.Diagnostics
	ValidateEphemeralConfig(ctx context.Context, typeName string, config cty.Value) tfdiags.Diagnostics
	ValidateListConfig(ctx context.Context, typeName string, config cty.Value) tfdiags.Diagnostics

	// Configure hands the provider its configuration, which may hold unknown values while planning.
	Configure(ctx context.Context, config cty.Value) tfdiags.Diagnostics

	// UpgradeResourceState turns a stored object into one of the current schema.
	// It is called even when the versions match.
	UpgradeResourceState(ctx context.Context, req UpgradeResourceStateRequest) UpgradeResourceStateResponse
	// ReadResource reads the real object. A null NewState means that it is gone.
	ReadResource(ctx context.Context, req ReadResourceRequest) ReadResourceResponse
	PlanResourceChange(ctx context.Context, req PlanResourceChangeRequest) PlanResourceChangeResponse
	ApplyResourceChange(ctx context.Context, req ApplyResourceChangeRequest) ApplyResourceChangeResponse
	ImportResourceState(ctx context.Context, req ImportResourceStateRequest) ImportResourceStateResponse
	MoveResourceState(ctx context.Context, req MoveResourceStateRequest) MoveResourceStateResponse

	ReadDataSource(ctx context.Context, req ReadDataSourceRequest) ReadDataSourceResponse

	// ListResources names the real objects of a type, managed or not.
	ListResources(ctx context.Context, req ListResourcesRequest) ListResourcesResponse

	OpenEphemeral(ctx context.Context, req OpenEphemeralRequest) OpenEphemeralResponse
	RenewEphemeral(ctx context.Context, req RenewEphemeralRequest) RenewEphemeralResponse
	CloseEphemeral(ctx context.Context, req CloseEphemeralRequest) tfdiags.Diagnostics

	// CallFunction works on an unconfigured provider. The error is a
	// function.ArgError where the provider named an argument.
	CallFunction(ctx context.Context, name string, args []cty.Value) (cty.Value, error)

	// Stop asks the provider to end calls in flight early. It returns at once.
	Stop(ctx context.Context) error
	// Close ends the provider process. It is idempotent.
	Close() error
}

// UpgradeResourceStateRequest carries a stored object exactly as it stands in a state file.
type UpgradeResourceStateRequest struct {
	TypeName string
	// Version is the schema version that the object was stored with.
	Version int64
	// RawJSON is the stored object; RawFlatmap is set instead for states older than v4.
	RawJSON    []byte
	RawFlatmap map[string]string
}

// UpgradeResourceStateResponse holds the object under the current schema.
type UpgradeResourceStateResponse struct {
	UpgradedState cty.Value
	Diagnostics   tfdiags.Diagnostics
}

// ReadResourceRequest asks for the real object behind a recorded one.
type ReadResourceRequest struct {
	TypeName   string
	PriorState cty.Value
	// PriorEncoded is the msgpack form of PriorState if the caller still has it
	// from an earlier answer, else nil. It saves encoding.
	PriorEncoded []byte
	Private      []byte
	// ProviderMeta is the module's provider_meta value, or cty.NilVal.
	ProviderMeta cty.Value
}

// ReadResourceResponse is the real object as the provider found it.
type ReadResourceResponse struct {
	// NewState is the object as it is now. If the answer's bytes equal
	// PriorEncoded, this is PriorState itself and Unchanged is true: nothing was decoded.
	NewState  cty.Value
	Unchanged bool
	// Encoded is the msgpack form of NewState, to hand back in the next request.
	Encoded     []byte
	Private     []byte
	Diagnostics tfdiags.Diagnostics
}

// PlanResourceChangeRequest asks what a change would lead to.
type PlanResourceChangeRequest struct {
	TypeName string
	// PriorState is null for a create. ProposedNewState and Config are null for a destroy.
	PriorState, ProposedNewState, Config cty.Value
	PriorPrivate                         []byte
	ProviderMeta                         cty.Value
}

// PlanResourceChangeResponse is the object that a change would lead to, with unknown values.
type PlanResourceChangeResponse struct {
	PlannedState    cty.Value
	RequiresReplace []cty.Path
	PlannedPrivate  []byte
	// LegacyTypeSystem says that the provider cannot keep the rules on planned
	// values (SDKv2); violations are then only logged.
	LegacyTypeSystem bool
	Diagnostics      tfdiags.Diagnostics
}

// ApplyResourceChangeRequest asks to make a planned change. PriorState is null for a create, PlannedState and Config are null for a destroy.
type ApplyResourceChangeRequest struct {
	TypeName                         string
	PriorState, PlannedState, Config cty.Value
	PlannedPrivate                   []byte
	ProviderMeta                     cty.Value
}

// ApplyResourceChangeResponse is what there is after a change, also after one that failed.
type ApplyResourceChangeResponse struct {
	// NewState may be cty.NilVal together with errors: then the prior object stands.
	NewState         cty.Value
	Private          []byte
	LegacyTypeSystem bool
	// Unanswered tells that the request went out and no answer came: the change may
	// have been made, in whole or in part, or not. There are errors too.
	Unanswered  bool
	Diagnostics tfdiags.Diagnostics
}

// ImportResourceStateRequest asks for the object that a provider knows by an id.
type ImportResourceStateRequest struct {
	TypeName string
	ID       string
}

// ImportedResource is one object that an import found; reading it completes it.
type ImportedResource struct {
	TypeName string
	State    cty.Value
	Private  []byte
}

// ImportResourceStateResponse holds what an import found.
type ImportResourceStateResponse struct {
	Imported    []ImportedResource
	Diagnostics tfdiags.Diagnostics
}

// MoveResourceStateRequest asks a provider to take over an object of another type or provider, as it stands in a state file.
type MoveResourceStateRequest struct {
	SourceProvider, SourceType, TargetType string
	SourceVersion                          int64
	SourceJSON, SourcePrivate              []byte
}

// MoveResourceStateResponse is the object under its new type.
type MoveResourceStateResponse struct {
	TargetState   cty.Value
	TargetPrivate []byte
	Diagnostics   tfdiags.Diagnostics
}

// ReadDataSourceRequest asks for a data source, whose configuration is wholly known.
type ReadDataSourceRequest struct {
	TypeName     string
	Config       cty.Value
	ProviderMeta cty.Value
}

// ReadDataSourceResponse is a data source's object: configuration and results.
type ReadDataSourceResponse struct {
	State       cty.Value
	Diagnostics tfdiags.Diagnostics
}

// MaxListed is how many objects one listing names at most.
const MaxListed = 10_000

// ListResourcesRequest asks which objects of a type there are.
type ListResourcesRequest struct {
	TypeName string
	// Config is the list resource's configuration, wholly known.
	Config cty.Value
	// IncludeResource asks for the objects beside what identifies them.
	IncludeResource bool
	// Limit is how many objects are wanted at most; 0 means [MaxListed], which is the most.
	Limit int
}

// ListedResource is one object of a listing.
type ListedResource struct {
	// Identity identifies the object among all of its type.
	Identity cty.Value
	// DisplayName is what the provider calls it for people; it may be "".
	DisplayName string
	// Resource is the object, or cty.NilVal if the provider gave none.
	Resource cty.Value
}

// ListResourcesResponse is what there is. With errors it names nothing, which does not
// mean that nothing is there.
type ListResourcesResponse struct {
	Listed []ListedResource
	// RequiredIdentity are the attributes of an identity without which no object is found,
	// sorted. The others say where it is, and the provider can supply them.
	RequiredIdentity []string
	// Full tells that as many objects were listed as were wanted: there may be more.
	Full        bool
	Diagnostics tfdiags.Diagnostics
}

// OpenEphemeralRequest asks for an ephemeral object.
type OpenEphemeralRequest struct {
	TypeName string
	Config   cty.Value
}

// OpenEphemeralResponse is an ephemeral object, to be closed after use.
type OpenEphemeralResponse struct {
	Result  cty.Value
	Private []byte
	// RenewAt is zero if the provider asks for no renewal.
	RenewAt     time.Time
	Diagnostics tfdiags.Diagnostics
}

// RenewEphemeralRequest prolongs an ephemeral object that is open.
type RenewEphemeralRequest struct {
	TypeName string
	Private  []byte
}

// RenewEphemeralResponse says until when an ephemeral object was prolonged.
type RenewEphemeralResponse struct {
	Private     []byte
	RenewAt     time.Time
	Diagnostics tfdiags.Diagnostics
}

// CloseEphemeralRequest ends an ephemeral object.
type CloseEphemeralRequest struct {
	TypeName string
	Private  []byte
}

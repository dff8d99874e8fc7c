package provider

import (
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/objectdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/towline/terraform-provider-towline/internal/trust"
)

// Default expiries. They are long because metadata that nobody renews stops new
// revisions, and a new user has nobody who renews it. Whoever has chooses shorter ones.
const (
	year              = 365 * 24 * time.Hour
	defaultRootExpiry = "87600h" // ten years: a root is renewed by hand
	defaultListExpiry = "43800h" // five years
	defaultStamps     = "8760h"  // one year: every publication renews them
)

// repositoryModel is a repository as Terraform sees it.
type repositoryModel struct {
	ID           types.String `tfsdk:"id"`
	URL          types.String `tfsdk:"url"`
	Root         types.Object `tfsdk:"root"`
	Publishing   types.Object `tfsdk:"publishing"`
	Environments types.Map    `tfsdk:"environments"`
	Channels     types.Map    `tfsdk:"channels"`
	Expiry       types.Object `tfsdk:"expiry"`
	ForceDestroy types.Bool   `tfsdk:"force_destroy"`
	TrustedRoot  types.String `tfsdk:"trusted_root"`
	Fingerprint  types.String `tfsdk:"fingerprint"`
}

// roleModel is who may sign for a role.
type roleModel struct {
	Keys      types.Set   `tfsdk:"keys"`
	Threshold types.Int64 `tfsdk:"threshold"`
}

type expiryModel struct {
	Root         duration `tfsdk:"root"`
	Environments duration `tfsdk:"environments"`
	Channels     duration `tfsdk:"channels"`
	Publishing   duration `tfsdk:"publishing"`
}

var (
	roleType   = types.ObjectType{AttrTypes: map[string]attr.Type{"keys": types.SetType{ElemType: types.StringType}, "threshold": types.Int64Type}}
	expiryType = map[string]attr.Type{"root": durationType{}, "environments": durationType{}, "channels": durationType{}, "publishing": durationType{}}
)

func repositorySchema() schema.Schema {
	kept := []planmodifier.String{stringplanmodifier.UseStateForUnknown()}
	return schema.Schema{
		MarkdownDescription: "A repository is a bucket and prefix in which everything that agents obey is signed. It is laid out as The Update Framework (TUF) says.\n\n" +
			"Without further arguments the provider's signing key signs for everything. " +
			"Keys and thresholds of a channel decide how many people it takes to bring a change there.",
		Attributes: map[string]schema.Attribute{
			"id": schema.StringAttribute{Computed: true, MarkdownDescription: "The URL.", PlanModifiers: kept},
			"url": schema.StringAttribute{
				Required: true, Validators: []validator.String{urlRule},
				PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()},
				MarkdownDescription: "`s3://BUCKET/PREFIX?region=REGION`, `gs://BUCKET/PREFIX`, `azblob://CONTAINER/PREFIX?account=NAME` or `file:///ABSOLUTE/PATH`. " +
					"Credentials come from the environment, as for every tool of the store's vendor. `towline repository check` tells whether a bucket will do. " +
					"Changing it makes another repository.",
			},
			"root":         roleAttribute("Who may change the repository itself: its environments, channels and keys.", ownKeys),
			"publishing":   roleAttribute("Who may publish at all, in addition to the key of an environment or channel.", "Every key named elsewhere in the repository"),
			"environments": rolesAttribute("Environments by name. A key of one environment declares nothing in another."),
			"channels":     rolesAttribute("Channels by name, each one line of revisions that agents follow."),
			"expiry":       expiryAttribute(),
			"force_destroy": schema.BoolAttribute{
				Optional: true, Computed: true, Default: booldefault.StaticBool(false),
				MarkdownDescription: "Whether destroying removes revisions, states and receipts as well. Unless set, a repository that holds any refuses to be destroyed: " +
					"a state that is lost leaves real objects that nobody keeps.",
			},
			"trusted_root": schema.StringAttribute{Computed: true, MarkdownDescription: "The first root, as JSON: what agents trust without proof. It never changes; later roots are signed by it.", PlanModifiers: kept},
			"fingerprint":  schema.StringAttribute{Computed: true, MarkdownDescription: "SHA-256 of `trusted_root`, in hex.", PlanModifiers: kept},
		},
	}
}

// ownKeys is what a role has unless the configuration names keys.
const ownKeys = "The provider's own"

func roleFields(unset string) map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"keys": schema.SetAttribute{
			ElementType: types.StringType, Optional: true, Computed: true,
			MarkdownDescription: "Public keys, ed25519 or ECDSA of the curve P-256, in base64 or PEM. " + unset + ", unless set.",
			Validators: []validator.Set{setvalidator.SizeAtLeast(1), setvalidator.ValueStringsAre(textRule{"Public key is not valid", func(text string) error {
				_, err := trust.ParsePublicKey(text)
				return explain(err, "must be an ed25519 or ECDSA P-256 public key in base64 or in PEM, as openssl pkey -pubout or towline repository keys show writes it")
			}})},
		},
		"threshold": schema.Int64Attribute{
			Optional: true, Computed: true, Default: int64default.StaticInt64(1),
			MarkdownDescription: "How many of the keys must sign. One, unless set.",
			Validators:          []validator.Int64{int64validator.AtLeast(1)},
		},
	}
}

func roleAttribute(description, unset string) schema.Attribute {
	return schema.SingleNestedAttribute{Optional: true, Computed: true, MarkdownDescription: description, Attributes: roleFields(unset)}
}

func rolesAttribute(description string) schema.Attribute {
	return schema.MapNestedAttribute{
		Required: true, MarkdownDescription: description,
		NestedObject: schema.NestedAttributeObject{Attributes: roleFields(ownKeys)},
		Validators:   []validator.Map{mapvalidator.SizeAtLeast(1), mapvalidator.KeysAre(nameRule)},
	}
}

func expiryAttribute() schema.Attribute {
	length := func(what, fallback string) schema.Attribute {
		return schema.StringAttribute{
			CustomType: durationType{}, Optional: true, Computed: true, Default: stringdefault.StaticString(fallback),
			MarkdownDescription: what + " `" + fallback + "`, unless set.", Validators: []validator.String{expiryRule},
		}
	}
	usual := defaultExpiry()
	return schema.SingleNestedAttribute{
		Optional: true, Computed: true,
		Default: objectdefault.StaticValue(types.ObjectValueMust(expiryType, map[string]attr.Value{
			"root": usual.Root, "environments": usual.Environments, "channels": usual.Channels, "publishing": usual.Publishing,
		})),
		MarkdownDescription: "How long signatures are good. Past it agents take no new revision, and go on keeping the last one.",
		Attributes: map[string]schema.Attribute{
			"root":         length("The repository itself.", defaultRootExpiry),
			"environments": length("What is declared for environments.", defaultListExpiry),
			"channels":     length("What is published on channels.", defaultListExpiry),
			"publishing":   length("Which publication is the latest; every publication renews it.", defaultStamps),
		},
	}
}

var expiryRule = textRule{"Expiry is not valid", func(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil {
		return nil // the type says so itself
	}
	if d < time.Minute || d > 100*year || d%time.Second != 0 {
		return errors.New("must be whole seconds, at least a minute and at most a hundred years")
	}
	return nil
}}

// defaultExpiry is the expiry attribute of a configuration that does not have it.
func defaultExpiry() expiryModel {
	text := func(value string) duration { return duration{types.StringValue(value)} }
	return expiryModel{text(defaultRootExpiry), text(defaultListExpiry), text(defaultListExpiry), text(defaultStamps)}
}

// spec turns a role into what package trust wants.
func (m roleModel) spec(keys []string, expiry duration) (trust.RoleSpec, error) {
	spec := trust.RoleSpec{Threshold: int(m.Threshold.ValueInt64()), Expiry: time.Duration(expiry.of())}
	for _, text := range keys {
		key, err := trust.ParsePublicKey(text)
		if err != nil {
			return trust.RoleSpec{}, err
		}
		spec.Keys = append(spec.Keys, key)
	}
	if err := spec.Validate(); err != nil {
		return trust.RoleSpec{}, fmt.Errorf("the role cannot be signed for: %w", err)
	}
	return spec, nil
}

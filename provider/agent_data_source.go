package provider

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/towline/terraform-provider-towline/internal/control"
)

// agentDataSource reads what an agent reports.
type agentDataSource struct{ session *session }

var _ datasource.DataSourceWithConfigure = (*agentDataSource)(nil)

func newAgentDataSource() datasource.DataSource { return &agentDataSource{} }

type agentReportModel struct {
	ID          types.String `tfsdk:"id"`
	Repository  types.String `tfsdk:"repository"`
	Environment types.String `tfsdk:"environment"`
	Name        types.String `tfsdk:"name"`
	TrustedRoot types.String `tfsdk:"trusted_root"`

	Channel   types.String `tfsdk:"channel"`
	Published types.String `tfsdk:"published_revision"`
	Enrolled  types.Bool   `tfsdk:"enrolled"`

	Live         types.String `tfsdk:"live_revision"`
	UpToDate     types.Bool   `tfsdk:"up_to_date"`
	ProofTime    types.String `tfsdk:"proof_time"`
	ProofAge     types.Int64  `tfsdk:"proof_age_seconds"`
	Outcome      types.String `tfsdk:"outcome"`
	Message      types.String `tfsdk:"message"`
	DriftCount   types.Int64  `tfsdk:"drift_count"`
	Objects      types.Int64  `tfsdk:"objects"`
	AgentVersion types.String `tfsdk:"agent_version"`
}

// Metadata names the data source.
func (d *agentDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_agent"
}

// Schema describes the data source.
func (d *agentDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	given := func(description string, rules ...validator.String) schema.Attribute {
		return schema.StringAttribute{Required: true, MarkdownDescription: description, Validators: rules}
	}
	text := func(description string) schema.Attribute {
		return schema.StringAttribute{Computed: true, MarkdownDescription: description}
	}
	number := func(description string) schema.Attribute {
		return schema.Int64Attribute{Computed: true, MarkdownDescription: description}
	}
	flag := func(description string) schema.Attribute {
		return schema.BoolAttribute{Computed: true, MarkdownDescription: description}
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "What an agent reports: is it live, at which revision, how old is the proof, what has drifted. " +
			"Every answer is verified from the trusted root to the agent's own signature. What cannot be verified is null and a warning, never a good answer.",
		Attributes: map[string]schema.Attribute{
			"id":                 text("`URL#ENVIRONMENT/NAME`."),
			"repository":         given("URL of the repository.", urlRule),
			"environment":        given("Environment of the agent.", nameRule),
			"name":               given("Name of the agent.", nameRule),
			"trusted_root":       given("The root to trust: `trusted_root` of the `towline_repository`."),
			"channel":            text("Channel that the agent follows."),
			"published_revision": text("Revision that is current on the channel. Null if there is none."),
			"enrolled":           flag("Whether a machine has enrolled with the present join token."),
			"live_revision":      text("Revision that the agent keeps. Null if it has reported none."),
			"up_to_date":         flag("Whether the agent keeps the published revision and its last round ended well."),
			"proof_time":         text("When the agent signed its last report, RFC 3339."),
			"proof_age_seconds":  number("How old that report is. An old proof proves nothing about now."),
			"outcome":            text("How the last round ended: `converged`, `applied`, `drifted`, `refused`, `pending` (for approval), `standby` or `failed`."),
			"message":            text("Why the last round did not converge. Null if it did."),
			"drift_count":        number("Number of attributes whose drift stands."),
			"objects":            number("Number of objects that the agent manages."),
			"agent_version":      text("Version of the agent's program."),
		},
	}
}

// Configure takes the provider's session.
func (d *agentDataSource) Configure(_ context.Context, req datasource.ConfigureRequest, resp *datasource.ConfigureResponse) {
	d.session = configured(req.ProviderData, &resp.Diagnostics)
}

// Read asks the repository for the declaration and the store for claim and heartbeat.
func (d *agentDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var model agentReportModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	if resp.Diagnostics.HasError() {
		return
	}
	ref := control.Ref{Kind: control.KindAgent, Environment: model.Environment.ValueString(), Name: model.Name.ValueString()}
	model.ID = types.StringValue(identifier(model.Repository.ValueString(), ref.Environment, ref.Name))
	report, err := d.session.report(ctx, model.Repository.ValueString(), []byte(model.TrustedRoot.ValueString()), ref)
	if err != nil {
		resp.Diagnostics.Append(failure("read", model.ID.ValueString(), err)...)
		return
	}
	for _, doubt := range report.doubts {
		resp.Diagnostics.AddWarning("Agent's report does not hold",
			"What "+model.ID.ValueString()+" says cannot be verified: "+doubt.Error()+". Either an enrolment has ended and its machine still runs, or somebody else writes to the store.")
	}
	model.fill(report, d.session.now())
	resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
}

// fill leaves null what nobody has proved.
func (m *agentReportModel) fill(r report, now time.Time) {
	m.Channel, m.Published = types.StringValue(r.declared.Channel), optionalText(r.published)
	m.Enrolled, m.UpToDate = types.BoolValue(r.enrolled), types.BoolValue(false)
	beat := r.heartbeat
	if beat == nil {
		return
	}
	good := beat.Outcome == control.OutcomeConverged || beat.Outcome == control.OutcomeApplied
	m.UpToDate = types.BoolValue(good && beat.Revision != "" && beat.Revision == r.published)
	m.Live, m.Message = optionalText(beat.Revision), optionalText(beat.Message)
	m.ProofTime = types.StringValue(beat.Reported().Format(time.RFC3339))
	m.ProofAge = types.Int64Value(max(0, int64(now.Sub(beat.Reported())/time.Second)))
	m.Outcome, m.AgentVersion = types.StringValue(string(beat.Outcome)), types.StringValue(beat.AgentVersion)
	m.DriftCount, m.Objects = types.Int64Value(int64(beat.Drift)), types.Int64Value(int64(beat.Objects))
}

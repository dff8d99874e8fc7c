package provider

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// roles is who may sign for what in a repository.
type roles struct {
	root, publishing       roleModel
	environments, channels map[string]roleModel
}

// roles reads the model. What is null or unknown as a whole has null keys; an
// unknown map is no map.
func (m *repositoryModel) roles(ctx context.Context, diags *diag.Diagnostics) roles {
	return roles{
		root: roleOf(ctx, m.Root, diags), publishing: roleOf(ctx, m.Publishing, diags),
		environments: rolesOf(ctx, m.Environments, diags), channels: rolesOf(ctx, m.Channels, diags),
	}
}

func roleOf(ctx context.Context, object types.Object, diags *diag.Diagnostics) roleModel {
	if object.IsNull() || object.IsUnknown() {
		return roleModel{Keys: types.SetNull(types.StringType)}
	}
	return objectAs[roleModel](ctx, object, diags)
}

func rolesOf(ctx context.Context, m types.Map, diags *diag.Diagnostics) map[string]roleModel {
	out := make(map[string]roleModel, len(m.Elements()))
	for name, value := range m.Elements() {
		object, ok := value.(types.Object)
		if !ok {
			continue
		}
		out[name] = roleOf(ctx, object, diags)
	}
	return out
}

// store writes the roles back into the model.
func (r roles) store(ctx context.Context, m *repositoryModel, diags *diag.Diagnostics) {
	m.Root = objectFrom(ctx, roleType.AttrTypes, r.root, diags)
	m.Publishing = objectFrom(ctx, roleType.AttrTypes, r.publishing, diags)
	if !m.Environments.IsUnknown() {
		m.Environments = roleMap(ctx, r.environments, diags)
	}
	if !m.Channels.IsUnknown() {
		m.Channels = roleMap(ctx, r.channels, diags)
	}
}

func roleMap(ctx context.Context, roles map[string]roleModel, diags *diag.Diagnostics) types.Map {
	elements := make(map[string]attr.Value, len(roles))
	for name, role := range roles {
		elements[name] = objectFrom(ctx, roleType.AttrTypes, role, diags)
	}
	out, moreDiags := types.MapValue(roleType, elements)
	diags.Append(moreDiags...)
	return out
}

// chooser fills in the keys that the configuration leaves to the provider.
type chooser struct {
	config, state roles
	// own are the provider's keys; unknown if the provider does not know them yet.
	own types.Set
}

// choose returns the planned roles with their keys: those configured, else those
// in force, else the provider's own. A new signing key therefore never slips into
// a role that is in force.
func (c chooser) choose(planned roles) roles {
	out := roles{
		root:         c.role(planned.root, c.config.root, c.state.root),
		environments: c.each(planned.environments, c.config.environments, c.state.environments),
		channels:     c.each(planned.channels, c.config.channels, c.state.channels),
		publishing:   planned.publishing,
	}
	if c.config.publishing.Keys.IsNull() {
		out.publishing.Keys = out.allKeys()
	}
	out.publishing.Threshold = thresholdOf(out.publishing.Threshold)
	return out
}

func (c chooser) each(planned, config, state map[string]roleModel) map[string]roleModel {
	out := make(map[string]roleModel, len(planned))
	for name, role := range planned {
		before, ok := state[name]
		if !ok {
			before.Keys = types.SetNull(types.StringType)
		}
		out[name] = c.role(role, config[name], before)
	}
	return out
}

func (c chooser) role(planned, config, state roleModel) roleModel {
	if config.Keys.IsNull() {
		planned.Keys = state.Keys
		if state.Keys.IsNull() {
			planned.Keys = c.own
		}
	}
	planned.Threshold = thresholdOf(planned.Threshold)
	return planned
}

func thresholdOf(value types.Int64) types.Int64 {
	if value.IsNull() || value.IsUnknown() {
		return types.Int64Value(1)
	}
	return value
}

// allKeys is every key named for a role, or unknown if any is.
func (r roles) allKeys() types.Set {
	var keys []attr.Value
	seen := map[trust.PublicKey]bool{}
	for _, role := range slices.Concat([]roleModel{r.root}, ordered(r.environments), ordered(r.channels)) {
		if role.Keys.IsUnknown() {
			return types.SetUnknown(types.StringType)
		}
		for _, element := range role.Keys.Elements() {
			text, ok := element.(types.String)
			key, err := trust.ParsePublicKey(text.ValueString())
			switch {
			case !ok || text.IsUnknown():
				return types.SetUnknown(types.StringType)
			case err == nil && !seen[key]:
				keys, seen[key] = append(keys, types.StringValue(key.String())), true
			}
		}
	}
	return types.SetValueMust(types.StringType, keys)
}

// lackKeys tells whether a role has no keys, which happens where neither the
// configuration names any nor the provider has its own.
func (r roles) lackKeys() bool {
	return slices.ContainsFunc(slices.Concat([]roleModel{r.root}, ordered(r.environments), ordered(r.channels)), func(role roleModel) bool {
		return !role.Keys.IsUnknown() && len(role.Keys.Elements()) == 0
	})
}

func ordered(m map[string]roleModel) []roleModel {
	var out []roleModel
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, m[name])
	}
	return out
}

// config converts what is known of the model; known is false if some of it is not.
func (m *repositoryModel) config(ctx context.Context) (out repository.Config, known bool, diags diag.Diagnostics) {
	all := m.roles(ctx, &diags)
	expiry := objectAs[expiryModel](ctx, m.Expiry, &diags)
	known = !m.Environments.IsUnknown() && !m.Channels.IsUnknown()
	spec := func(at path.Path, role roleModel, d duration) trust.RoleSpec {
		if role.Keys.IsUnknown() || d.IsUnknown() || hasUnknownElement(role.Keys) {
			known = false
			return trust.RoleSpec{}
		}
		spec, err := role.spec(sortedTexts(ctx, role.Keys, &diags), d)
		if err != nil {
			diags.AddAttributeError(at, "Role cannot be signed for", fmt.Sprintf("Nobody could sign, because %s. Give as many different keys as the threshold asks for.", err))
		}
		return spec
	}
	specs := func(attribute string, roles map[string]roleModel, d duration) map[string]trust.RoleSpec {
		out := make(map[string]trust.RoleSpec, len(roles))
		for name, role := range roles {
			out[name] = spec(path.Root(attribute).AtMapKey(name), role, d)
		}
		return out
	}
	rootSpec := spec(path.Root("root"), all.root, expiry.Root)
	stamps := spec(path.Root("publishing"), all.publishing, expiry.Publishing)
	return repository.Config{
		Top:          trust.Top{Root: rootSpec, Targets: rootSpec, Snapshot: stamps, Timestamp: stamps},
		Environments: specs("environments", all.environments, expiry.Environments),
		Channels:     specs("channels", all.channels, expiry.Channels),
	}, known, diags
}

func hasUnknownElement(set types.Set) bool {
	return slices.ContainsFunc(set.Elements(), attr.Value.IsUnknown)
}

// load takes over what is in force, and leaves keys as the user wrote them where
// they mean the same.
func (m *repositoryModel) load(ctx context.Context, in repository.Config) diag.Diagnostics {
	var diags diag.Diagnostics
	written := m.roles(ctx, &diags)
	now := roles{root: loadedRole(written.root, in.Root), publishing: loadedRole(written.publishing, in.Timestamp)}
	expiry := defaultExpiry()
	expiry.Root, expiry.Publishing = durationOf(in.Root.Expiry), durationOf(in.Timestamp.Expiry)
	now.environments, expiry.Environments = loadedRoles(written.environments, in.Environments, expiry.Environments)
	now.channels, expiry.Channels = loadedRoles(written.channels, in.Channels, expiry.Channels)
	now.store(ctx, m, &diags)
	m.Expiry = objectFrom(ctx, expiryType, expiry, &diags)
	return diags
}

// loadedRoles also returns the roles' expiry. Should they differ, the shortest is
// told, so that the next apply makes them equal.
func loadedRoles(written map[string]roleModel, specs map[string]trust.RoleSpec, fallback duration) (map[string]roleModel, duration) {
	out, expiry := make(map[string]roleModel, len(specs)), time.Duration(0)
	for name, spec := range specs {
		out[name] = loadedRole(written[name], spec)
		if expiry == 0 || spec.Expiry < expiry {
			expiry = spec.Expiry
		}
	}
	if expiry == 0 {
		return out, fallback
	}
	return out, durationOf(expiry)
}

func loadedRole(written roleModel, spec trust.RoleSpec) roleModel {
	out := roleModel{Keys: written.Keys, Threshold: types.Int64Value(int64(spec.Threshold))}
	same := trust.RoleSpec{Threshold: spec.Threshold, Expiry: spec.Expiry}
	for _, element := range written.Keys.Elements() {
		text, _ := element.(types.String)
		if key, err := trust.ParsePublicKey(text.ValueString()); err == nil {
			same.Keys = append(same.Keys, key)
		}
	}
	if len(same.Keys) == 0 || !same.Equal(spec) {
		out.Keys = keySet(spec.Keys)
	}
	return out
}

func keySet(keys []trust.PublicKey) types.Set {
	elements := make([]attr.Value, len(keys))
	for i, key := range keys {
		elements[i] = types.StringValue(key.String())
	}
	return types.SetValueMust(types.StringType, elements)
}

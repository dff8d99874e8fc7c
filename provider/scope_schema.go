package provider

import (
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/objectdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/towline/terraform-provider-towline/internal/control"
)

func scopeSchema() schema.Schema {
	attributes := headAttributes("scope")
	attributes["include"] = matchAttribute("What the scope covers: resource instances that match any entry.", true)
	attributes["exclude"] = matchAttribute("What the scope leaves out although an entry of `include` matches it.", false)
	attributes["actions"] = schema.SetAttribute{
		ElementType: types.StringType, Optional: true,
		MarkdownDescription: "Actions that are allowed: `create`, `update`, `delete`. All, unless set. A replacement needs `create` and `delete`.",
		Validators: []validator.Set{setvalidator.SizeAtLeast(1), setvalidator.ValueStringsAre(stringvalidator.OneOf(
			string(control.ActionCreate), string(control.ActionUpdate), string(control.ActionDelete)))},
	}
	attributes["ignore_attributes"] = patternsAttribute("Attributes that are not owned, as `ADDRESS.attribute` or `TYPE.attribute`: they are neither planned, nor applied, nor reported as drift.")
	attributes["max_deletes"] = limitAttribute("Most deletions in one round; a plan with more is refused. No limit, unless set.", 1_000_000)
	attributes["max_changes"] = limitAttribute("Most changes of any kind in one round; a plan with more is refused. No limit, unless set.", 1_000_000)
	attributes["max_share"] = limitAttribute("Most changes in one round in percent of the scope's objects; a plan with more is refused. No limit, unless set.", 100)
	attributes["windows"] = windowsAttribute()
	attributes["drift"] = driftAttribute()
	attributes["inventories"] = inventoriesAttribute()
	attributes["approval"] = approvalAttribute()
	return schema.Schema{
		MarkdownDescription: "A scope says what an agent may touch, and what it does when somebody else has touched it. " +
			"An agent changes nothing outside of its scopes: a plan that would is refused as a whole. " +
			"Two writers may share an object, never an attribute: scopes of different agents that overlap are refused.",
		Attributes: attributes,
	}
}

func matchAttribute(description string, include bool) schema.Attribute {
	attributes := map[string]schema.Attribute{
		"address":  schema.StringAttribute{Optional: true, MarkdownDescription: "Address of resource instances, such as `module.network.**`. Any, unless set."},
		"type":     schema.StringAttribute{Optional: true, MarkdownDescription: "Type of resource, such as `aws_security_group*`. Any, unless set."},
		"module":   schema.StringAttribute{Optional: true, MarkdownDescription: "Path of a module, such as `module.network`; everything below it. Any, unless set."},
		"provider": schema.StringAttribute{Optional: true, MarkdownDescription: "Source of the provider, such as `hashicorp/aws`. Any, unless set."},
	}
	if include {
		attributes["attributes"] = schema.ListAttribute{ElementType: types.StringType, Optional: true, Validators: []validator.List{listvalidator.SizeAtLeast(1)},
			MarkdownDescription: "Paths inside the object, such as `tags[\"team\"]`, that are owned; all, unless set. An agent that owns only listed attributes neither creates, replaces nor deletes the object."}
		attributes["except"] = schema.ListAttribute{ElementType: types.StringType, Optional: true, Validators: []validator.List{listvalidator.SizeAtLeast(1)},
			MarkdownDescription: "Paths inside the object that are not owned."}
	}
	return schema.ListNestedAttribute{
		Required: include, Optional: !include,
		MarkdownDescription: description + " Within an address, `*` stands for any characters of one step and `**` for any number of steps.",
		Validators:          []validator.List{listvalidator.SizeAtLeast(1)},
		NestedObject:        schema.NestedAttributeObject{Attributes: attributes},
	}
}

func patternsAttribute(description string) schema.Attribute {
	return schema.SetAttribute{ElementType: types.StringType, Optional: true, MarkdownDescription: description, Validators: []validator.Set{setvalidator.SizeAtLeast(1)}}
}

func limitAttribute(description string, most int64) schema.Attribute {
	return schema.Int64Attribute{Optional: true, MarkdownDescription: description, Validators: []validator.Int64{int64validator.Between(0, most)}}
}

func windowsAttribute() schema.Attribute {
	return schema.ListNestedAttribute{
		Optional: true, MarkdownDescription: "Times in UTC in which changes are made; at any time, unless set. Outside of them a plan with changes is refused, and made again in every round.",
		Validators: []validator.List{listvalidator.SizeAtLeast(1)},
		NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
			"days": schema.ListAttribute{ElementType: types.StringType, Optional: true, MarkdownDescription: "Days on which the window begins: `mon` to `sun`. All, unless set.",
				Validators: []validator.List{listvalidator.SizeAtLeast(1), listvalidator.ValueStringsAre(stringvalidator.OneOf("mon", "tue", "wed", "thu", "fri", "sat", "sun"))}},
			"from":  schema.StringAttribute{Required: true, MarkdownDescription: "Beginning, such as `22:30`."},
			"until": schema.StringAttribute{Required: true, MarkdownDescription: "End, such as `04:00`, on the day after if it is before the beginning."},
		}},
	}
}

func modeAttribute() schema.Attribute {
	return schema.StringAttribute{
		Required: true,
		MarkdownDescription: "`observe` reports drift; `propose` reports it and corrects it once a person has approved that very plan; " +
			"`enforce` corrects it after the grace time.",
		Validators: []validator.String{stringvalidator.OneOf(string(control.DriftObserve), string(control.DriftPropose), string(control.DriftEnforce))},
	}
}

func graceAttribute() schema.Attribute {
	return schema.StringAttribute{
		CustomType: durationType{}, Optional: true, Computed: true, Default: stringdefault.StaticString("0s"),
		MarkdownDescription: "How long drift must have been seen before it is corrected, such as `10m`.",
	}
}

func driftAttribute() schema.Attribute {
	observe := types.ObjectValueMust(driftType, map[string]attr.Value{
		"mode": types.StringValue(string(control.DriftObserve)), "grace": durationOf(0),
		"rules": types.ListNull(ruleType), "ignore": types.SetNull(types.StringType), "oscillation": types.ObjectNull(oscillationType),
	})
	return schema.SingleNestedAttribute{
		Optional: true, Computed: true, Default: objectdefault.StaticValue(observe),
		MarkdownDescription: "What the agent does about drift. It observes, unless set.",
		Attributes: map[string]schema.Attribute{
			"mode": modeAttribute(), "grace": graceAttribute(),
			"rules": schema.ListNestedAttribute{
				Optional: true, MarkdownDescription: "What to do about some attributes instead. The first rule that names an attribute counts.",
				Validators: []validator.List{listvalidator.SizeAtLeast(1)},
				NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
					"attributes": schema.ListAttribute{ElementType: types.StringType, Required: true, MarkdownDescription: "Attributes, as `ADDRESS.attribute` or `TYPE.attribute`.", Validators: []validator.List{listvalidator.SizeAtLeast(1)}},
					"mode":       modeAttribute(), "grace": graceAttribute(),
				}},
			},
			"ignore":      patternsAttribute("Attributes whose drift is not reported, as `ADDRESS.attribute` or `TYPE.attribute`. What is planned stays the same."),
			"oscillation": oscillationAttribute(),
		},
	}
}

func oscillationAttribute() schema.Attribute {
	return schema.SingleNestedAttribute{
		Optional: true, MarkdownDescription: "When correcting an attribute stops because another writer keeps changing it back. Three times within an hour, unless set.",
		Attributes: map[string]schema.Attribute{
			"times":   schema.Int64Attribute{Required: true, MarkdownDescription: "How often an attribute is corrected.", Validators: []validator.Int64{int64validator.Between(1, 100)}},
			"within":  schema.StringAttribute{CustomType: durationType{}, Required: true, MarkdownDescription: "In which time, such as `1h`. After as long without a change correction goes on."},
			"resumed": schema.StringAttribute{Optional: true, MarkdownDescription: "Time in UTC, such as `2026-01-02T15:04:05Z`, before which corrections do not count: set it to go on at once."},
		},
	}
}

func inventoriesAttribute() schema.Attribute {
	return schema.ListNestedAttribute{
		Optional: true, MarkdownDescription: "Data sources and list blocks of the revision that list what there is. Objects among them that nobody manages are reported.",
		Validators: []validator.List{listvalidator.SizeAtLeast(1)},
		NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
			"data": schema.StringAttribute{Required: true, MarkdownDescription: "Address of the data source, such as `data.aws_instances.all`, of the list block in a `.tfquery.hcl` file, such as `list.aws_instance.all`, or a pattern of it."},
			"list": schema.StringAttribute{Optional: true, MarkdownDescription: "Attribute of the data source that lists the objects, or their identities. To be left out for a list block."},
			"id":   schema.StringAttribute{Optional: true, MarkdownDescription: "Attribute of a listed object that identifies it. Unless set, the elements of a data source's list are identities themselves, and objects of a list block are identified as their provider says. For a list block several attributes may be joined, as in the ID to import an object by: `region/name`."},
		}},
	}
}

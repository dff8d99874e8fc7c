package render

import (
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/lang"
	"github.com/towline/terraform-provider-towline/internal/parallel"
	"github.com/towline/terraform-provider-towline/internal/plans"
)

// planned is one change with its difference.
type planned struct {
	change *plans.Change
	diff   diff
}

func (c planned) moved() bool { return !c.change.PrevAddr.Equal(c.change.Addr) }

// visible tells whether there is anything to say about a change.
func (c planned) visible() bool {
	switch {
	case c.change.Action == plans.NoOp:
		return c.moved() || c.change.Importing != ""
	case c.change.Action == plans.Delete:
		return c.change.Addr.Resource.Mode == addrs.Managed
	default:
		return true
	}
}

// plan prints a whole plan.
func (p *printer) plan(plan *plans.Plan, schemas Schemas) {
	changes := visibleChanges(plan, schemas)
	outputs := p.outputChanges(plan.Outputs)
	drifted := p.drift(plan, schemas, len(changes) > 0 || len(outputs) > 0)
	if len(changes) == 0 && len(outputs) == 0 {
		p.nothing(plan, drifted)
		return
	}
	if drifted {
		p.rule()
	}
	acts := p.changes(plan, changes)
	if len(outputs) == 0 {
		return
	}
	p.line("\nChanges to Outputs:\n" + strings.Join(outputs, "\n"))
	if !acts {
		p.line("")
		p.sentence("Applying this plan records the new output values in the state; no real object changes.")
	}
}

// rule prints a line across the page.
func (p *printer) rule() {
	p.line("\n" + p.paint.color(darkGray, strings.Repeat("─", p.width-1)))
}

func visibleChanges(plan *plans.Plan, schemas Schemas) []planned {
	var out []planned
	for _, c := range plan.Changes {
		if entry := (planned{change: c}); entry.visible() {
			out = append(out, entry)
		}
	}
	parallel.Each(len(out), func(i int) { out[i].diff = compareChange(out[i].change, schemas) })
	return out
}

// compareChange compares a change's objects, with marks where they are sensitive.
func compareChange(c *plans.Change, schemas Schemas) diff {
	before := lang.MarkPaths(c.Before, c.BeforeSensitive)
	after := lang.MarkPaths(c.After, c.AfterSensitive)
	if c.Action == plans.Forget {
		after = before // the object stays as it is
	}
	return compareBlock(schemas.block(c.Provider.Provider, c.Addr.Resource),
		change{before: orAbsent(before), after: orAbsent(after), replace: c.RequiredReplace, gone: c.Action == plans.Delete})
}

// nothing prints that a plan holds no changes, and why that may be.
func (p *printer) nothing(plan *plans.Plan, drifted bool) {
	switch {
	case plan.Errored:
		if drifted {
			p.rule()
		}
		p.line("\n" + p.paint.color(red, "Planning failed.") + p.paint.color(bold, " The errors that stopped it follow.") + "\n")
	case plan.Mode == plans.RefreshOnlyMode && drifted:
		// The drift is all that such a plan holds, and it was printed with what applying it does.
	case plan.Mode == plans.RefreshOnlyMode:
		p.noChanges("Your infrastructure still matches the configuration.")
		p.sentence("Every real object was read and is as it was recorded last.")
	case plan.Mode == plans.DestroyMode:
		if drifted {
			p.rule()
		}
		p.noChanges("No objects need to be destroyed.")
		p.sentence("The state records no object that still exists.")
	default:
		p.noChanges("Your infrastructure matches the configuration.")
		p.sentence("Every real object was compared with the configuration, and none differs.")
	}
}

func (p *printer) noChanges(what string) {
	p.line("\n" + p.paint.color(green, "No changes.") + p.paint.color(bold, " "+what) + "\n")
}

// legend are the actions in the order of their explanation.
var legend = []struct {
	action plans.Action
	text   string
}{
	{plans.Create, "create"},
	{plans.Update, "update in-place"},
	{plans.Delete, "destroy"},
	{plans.DeleteThenCreate, "destroy and then create replacement"},
	{plans.CreateThenDelete, "create replacement and then destroy"},
	{plans.Read, "read (data resources)"},
}

// changes prints the planned changes and tells whether any does more than move.
func (p *printer) changes(plan *plans.Plan, changes []planned) bool {
	if len(changes) == 0 {
		return false
	}
	counts := map[plans.Action]int{}
	for _, c := range changes {
		if c.change.Action != plans.NoOp {
			counts[c.change.Action]++
		}
	}
	if len(counts) > 0 {
		p.line("")
		p.sentence("Towline asked the providers what the configuration means for each object. The symbols below say what would happen:")
		for _, entry := range legend {
			if counts[entry.action] > 0 {
				p.line(symbol(p.paint, entry.action) + " " + entry.text)
			}
		}
	}
	if plan.Errored {
		p.line("\nTowline could plan these actions before errors stopped it:")
	} else {
		p.line("\nTowline will do the following:")
	}
	texts := make([]string, len(changes))
	parallel.Each(len(changes), func(i int) { texts[i] = p.changeText(changes[i], false) })
	for _, text := range texts {
		p.line("\n" + text)
	}
	replaced := counts[plans.DeleteThenCreate] + counts[plans.CreateThenDelete]
	imports := ""
	if n := plan.Count().Import; n > 0 {
		imports = fmt.Sprintf(" %d to import,", n)
	}
	p.line("\n" + p.paint.color(bold, "Plan:") + imports + fmt.Sprintf(" %d to add, %d to change, %d to destroy.",
		counts[plans.Create]+replaced, counts[plans.Update], counts[plans.Delete]+replaced))
	return len(counts) > 0
}

// changeText is a change's header and its object.
func (p *printer) changeText(c planned, isDrift bool) string {
	kind := "resource"
	if c.change.Addr.Resource.Mode == addrs.Data {
		kind = "data"
	}
	s := style{paint: p.paint, all: c.change.Importing != ""} // an imported object is shown whole
	return p.header(c, isDrift) + symbol(p.paint, c.change.Action) +
		fmt.Sprintf(" %s %q %q %s", kind, c.change.Addr.Resource.Type, c.change.Addr.Resource.Name, c.diff.text(0, s))
}

// outputChanges returns one text for each output that changes.
func (p *printer) outputChanges(outputs []*plans.OutputChange) []string {
	diffs := make(map[string]diff, len(outputs))
	for _, o := range outputs {
		before, after := orAbsent(o.Before), orAbsent(o.After)
		if o.Sensitive {
			before, after = markWhole(before), markWhole(after)
		}
		diffs[o.Name] = compareDynamic(change{before: before, after: after})
	}
	width := widest(diffs, attributeName)
	var out []string
	for _, name := range sortedKeys(diffs) {
		if d := diffs[name]; d.action != plans.NoOp {
			out = append(out, fmt.Sprintf("%s %-*s = %s", symbol(p.paint, d.action), width, attributeName(name), d.text(0, style{paint: p.paint})))
		}
	}
	return out
}

func markWhole(v cty.Value) cty.Value {
	if absent(v) {
		return v
	}
	return v.Mark(lang.Sensitive)
}

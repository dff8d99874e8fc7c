package render

import (
	"fmt"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/plans"
)

// header returns the comment lines above a change: what will happen to which
// object, and why if the values do not show it.
func (p *printer) header(c planned, isDrift bool) string {
	name := c.change.Addr.String()
	if c.change.Deposed != "" {
		name += fmt.Sprintf(" (deposed object %s)", c.change.Deposed)
	}
	headline, notes, moved := " "+p.headline(c, isDrift), headerNotes(c.change), ""
	switch {
	case c.change.Action == plans.NoOp && c.change.Importing != "":
		headline = " will be imported"
		if c.moved() {
			moved = c.change.PrevAddr.String()
		}
	case c.change.Action == plans.NoOp && c.moved():
		name, headline = c.change.PrevAddr.String(), " has moved to "+p.paint.color(bold, name)
	case c.moved():
		moved = c.change.PrevAddr.String()
	}
	if c.change.Importing != "" && c.change.Action != plans.NoOp {
		notes = append(notes, fmt.Sprintf("(imported from %q)", c.change.Importing))
		if c.change.Action.IsReplace() {
			notes = append(notes, "Warning: this will destroy the imported resource")
		}
	}
	if c.change.GeneratedConfig != "" {
		notes = append(notes, "(config will be generated)")
	}
	mark := "  # "
	if c.change.Action == plans.Forget {
		mark = " # "
	}
	var b strings.Builder
	b.WriteString(p.paint.color(bold, mark+name) + headline + "\n")
	for _, note := range notes {
		b.WriteString(mark + note + "\n")
	}
	if moved != "" {
		b.WriteString("  # (moved from " + moved + ")\n")
	}
	return b.String()
}

// headline says what happens to the object.
func (p *printer) headline(c planned, isDrift bool) string {
	alarm := func(text string) string { return p.paint.color(red, text) }
	switch c.change.Action {
	case plans.Create:
		return "will be created"
	case plans.Read:
		return "will be read during apply"
	case plans.Update:
		if isDrift {
			return "has changed"
		}
		return "will be updated in-place"
	case plans.Delete:
		if isDrift {
			return "has been deleted"
		}
		return "will be " + alarm("destroyed")
	case plans.Forget:
		return "will no longer be managed by Towline, but " + alarm("will not be destroyed")
	case plans.DeleteThenCreate, plans.CreateThenDelete:
		switch c.change.Reason {
		case plans.ReplaceBecauseTainted:
			return "is tainted, so must be " + alarm("replaced")
		case plans.ReplaceByRequest:
			return "will be " + alarm("replaced") + ", as requested"
		case plans.ReplaceByTriggers:
			return "will be " + alarm("replaced") + " due to changes in replace_triggered_by"
		default:
			return "must be " + alarm("replaced")
		}
	default:
		return "stays as it is"
	}
}

// headerNotes say why, in lines of their own.
func headerNotes(c *plans.Change) []string {
	var notes []string
	key := strings.TrimSuffix(strings.TrimPrefix(c.Addr.Key.String(), "["), "]")
	if c.Action == plans.Forget {
		return append(notes, "(destroy = false is set in the configuration)")
	}
	switch c.Reason {
	case plans.ReadBecauseConfigUnknown:
		notes = append(notes, "(config refers to values not yet known)")
	case plans.ReadBecauseCheckNested:
		notes = append(notes, "(config will be reloaded to verify a check block)")
	case plans.ReadBecauseDependencyPending:
		notes = append(notes, "(depends on a resource or a module with changes pending)")
	case plans.DeleteBecauseNoResource:
		notes = append(notes, fmt.Sprintf("(because %s is not in configuration)", c.Addr.Resource))
	case plans.DeleteBecauseNoModule:
		notes = append(notes, fmt.Sprintf("(because %s is not in configuration)", c.Addr.Module))
	case plans.DeleteBecauseNoMoveTarget:
		notes = append(notes, fmt.Sprintf("(because %s was moved to %s, which is not in configuration)", c.PrevAddr, c.Addr))
	case plans.DeleteBecauseWrongRepetition:
		notes = append(notes, "(because resource "+repetition(c)+")")
	case plans.DeleteBecauseCountIndex:
		notes = append(notes, fmt.Sprintf("(because index [%s] is out of range for count)", key))
	case plans.DeleteBecauseEachKey:
		notes = append(notes, fmt.Sprintf("(because key [%s] is not in for_each map)", key))
	}
	if c.Deposed != "" {
		notes = append(notes, "(left over from a partially-failed replacement of this instance)")
	}
	return notes
}

// repetition says how the configuration disagrees with an instance's key.
func repetition(c *plans.Change) string {
	if _, ok := c.Addr.Key.Int(); ok {
		return "does not use count"
	}
	if _, ok := c.Addr.Key.Text(); ok {
		return "does not use for_each"
	}
	return "uses count or for_each"
}

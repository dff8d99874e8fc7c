package stream

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// formatVersion is the version of the messages.
const formatVersion = "1.2"

// timeLayout is how messages tell the time.
const timeLayout = "2006-01-02T15:04:05.000000Z07:00"

// Stream writes messages. It is safe for concurrent use. Once a write failed, it
// writes no more; Err tells why.
type Stream struct {
	now func() time.Time

	mu      sync.Mutex
	w       io.Writer
	err     error
	running map[string]*activity
	stop    chan struct{}
}

// New returns a stream to w; now is the clock.
func New(w io.Writer, now func() time.Time) *Stream {
	return &Stream{w: w, now: now, running: map[string]*activity{}}
}

// Err returns the first error of a write.
func (s *Stream) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// fields are what a message has besides its text.
type fields map[string]any

// send writes one message. It is called with the lock held.
func (s *Stream) send(level, kind, text string, more fields) {
	if s.err != nil {
		return
	}
	message := fields{"@level": level, "@message": text, "@module": "terraform.ui", "@timestamp": s.now().UTC().Format(timeLayout), "type": kind}
	for name, value := range more {
		message[name] = value
	}
	line, err := json.Marshal(message)
	if err == nil {
		_, err = s.w.Write(append(line, '\n'))
	}
	if err != nil {
		s.err = fmt.Errorf("write message: %w", err)
	}
}

func (s *Stream) info(kind, text string, more fields) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.send("info", kind, text, more)
}

// Version is the first message.
func (s *Stream) Version(towline string) {
	s.info("version", "Terraform "+states.TerraformVersion, fields{"terraform": states.TerraformVersion, "towline": towline, "ui": formatVersion})
}

// Log is a message for people only.
func (s *Stream) Log(text string) { s.info("log", text, nil) }

// Initialising tells of a step of init; code names the step.
func (s *Stream) Initialising(code, text string) {
	s.info("init_output", text, fields{"message_code": code})
}

// Diagnostics tells of problems.
func (s *Stream) Diagnostics(diags tfdiags.Diagnostics, sources map[string][]byte) {
	format := tfdiags.Format{Sources: sources}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range diags {
		encoded, err := format.JSON(d)
		if err != nil {
			s.err = fmt.Errorf("encode diagnostic: %w", err)
			return
		}
		level, title := "error", "Error: "
		if d.Severity == tfdiags.Warning {
			level, title = "warn", "Warning: "
		}
		s.send(level, "diagnostic", title+d.Summary, fields{"diagnostic": json.RawMessage(encoded)})
	}
}

// resource names a resource instance.
func resource(addr addrs.ResourceInstance) fields {
	return fields{
		"addr": addr.String(), "module": addr.Module.String(), "resource": addrs.ResourceInstance{Resource: addr.Resource, Key: addr.Key}.String(),
		"implied_provider": addr.Resource.ImpliedProvider(), "resource_type": addr.Resource.Type, "resource_name": addr.Resource.Name,
		"resource_key": keyOf(addr.Key),
	}
}

func keyOf(key addrs.InstanceKey) any {
	if n, ok := key.Int(); ok {
		return n
	}
	if text, ok := key.Text(); ok {
		return text
	}
	return nil
}

// Plan tells of drift, of every planned change and of how many there are.
func (s *Stream) Plan(plan *plans.Plan) {
	for _, c := range plan.Drift {
		if plan.Mode == plans.DestroyMode { // everything goes, whatever it is like
			break
		}
		if c.Action != plans.NoOp || plan.Mode == plans.RefreshOnlyMode {
			change := changeOf(c)
			s.info("resource_drift", fmt.Sprintf("%s: Drift detected (%s)", c.Addr, change["action"]), fields{"change": change})
		}
	}
	for _, c := range plan.Changes {
		s.plannedChange(c)
	}
	n := plan.Count()
	s.info("change_summary", summary("Plan: ", n, "to add", "to change", "to destroy", "to import"), fields{"changes": counts(n, "plan")})
	outputs := fields{}
	for _, o := range plan.Outputs {
		outputs[o.Name] = fields{"sensitive": o.Sensitive, "action": actionName(o.Action)}
	}
	if len(outputs) > 0 {
		s.info("outputs", fmt.Sprintf("Outputs: %d", len(outputs)), fields{"outputs": outputs})
	}
}

// Saved tells of every change of a saved plan that is being applied, but for what
// only moves or is only imported.
func (s *Stream) Saved(plan *plans.Plan) {
	for _, c := range plan.Changes {
		if c.Action != plans.NoOp {
			s.plannedChange(c)
		}
	}
}

func (s *Stream) plannedChange(c *plans.Change) {
	if change := changeOf(c); change["action"] != "noop" {
		s.info("planned_change", fmt.Sprintf("%s: Plan to %s", c.Addr, change["action"]), fields{"change": change})
	}
}

func changeOf(c *plans.Change) fields {
	out := fields{"resource": resource(c.Addr), "action": actionName(c.Action)}
	if reason := reasonNames[c.Reason]; reason != "" {
		out["reason"] = reason
	} else if c.Reason != "" {
		out["reason"] = string(c.Reason)
	}
	if c.Moved() {
		out["previous_resource"] = resource(c.PrevAddr)
		if c.Action == plans.NoOp {
			out["action"] = "move"
		}
	}
	if c.Importing != "" {
		out["importing"] = fields{"id": c.Importing}
		if c.GeneratedConfig != "" {
			out["generated_config"] = c.GeneratedConfig
		}
		if out["action"] == "noop" {
			out["action"] = "import"
		}
	}
	return out
}

func actionName(action plans.Action) string {
	switch action {
	case plans.Create:
		return "create"
	case plans.Read:
		return "read"
	case plans.Update:
		return "update"
	case plans.DeleteThenCreate, plans.CreateThenDelete:
		return "replace"
	case plans.Delete:
		return "delete"
	case plans.Forget:
		return "remove"
	}
	return "noop"
}

// reasonNames are reasons that messages call otherwise than plan documents do.
var reasonNames = map[plans.Reason]string{
	"replace_because_tainted": "tainted", "replace_because_cannot_update": "cannot_update",
	"replace_by_request": "requested", "replace_by_triggers": "replace_triggered_by",
}

func counts(n plans.Counts, operation string) fields {
	return fields{"add": n.Add, "change": n.Change, "import": n.Import, "remove": n.Destroy, "operation": operation}
}

// summary is the line that counts changes.
func summary(begin string, n plans.Counts, add, change, destroy, imported string) string {
	text := begin
	if n.Import > 0 {
		text += fmt.Sprintf("%d %s, ", n.Import, imported)
	}
	return text + fmt.Sprintf("%d %s, %d %s, %d %s.", n.Add, add, n.Change, change, n.Destroy, destroy)
}

// Done tells how many objects an apply changed.
func (s *Stream) Done(n plans.Counts, destroying bool) {
	if destroying {
		s.info("change_summary", fmt.Sprintf("Destroy complete! Resources: %d destroyed.", n.Destroy), fields{"changes": counts(n, "destroy")})
		return
	}
	s.info("change_summary", summary("Apply complete! Resources: ", n, "added", "changed", "destroyed", "imported"), fields{"changes": counts(n, "apply")})
}

// Outputs tells the values of the root module's outputs, but for sensitive ones.
func (s *Stream) Outputs(outputs map[string]*states.Output) error {
	out := fields{}
	for name, o := range outputs {
		ty, err := ctyjson.MarshalType(o.Value.Type())
		if err != nil {
			return fmt.Errorf("encode the type of output %s: %w", name, err)
		}
		entry := fields{"sensitive": o.Sensitive, "type": json.RawMessage(ty)}
		if !o.Sensitive {
			value, err := ctyjson.Marshal(o.Value, o.Value.Type())
			if err != nil {
				return fmt.Errorf("encode output %s: %w", name, err)
			}
			entry["value"] = json.RawMessage(value)
		}
		out[name] = entry
	}
	s.info("outputs", fmt.Sprintf("Outputs: %d", len(out)), fields{"outputs": out})
	return nil
}

package policy

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// minSecret is the length from which a sensitive value is looked for in messages:
// shorter ones would take words apart, and say little.
const minSecret = 4

// hidden stands where a message had a sensitive value.
const hidden = "(sensitive value)"

// hiding replaces what the plan JSON marks as sensitive.
func hiding(plan any) *strings.Replacer {
	secrets := secretsOf(plan)
	pairs := make([]string, 0, 2*len(secrets))
	for _, secret := range secrets {
		pairs = append(pairs, secret, hidden)
	}
	return strings.NewReplacer(pairs...)
}

// secretsOf returns the sensitive texts of a plan, the longest first.
func secretsOf(plan any) []string {
	found := map[string]bool{}
	for _, kind := range []string{"resource_changes", "resource_drift"} {
		changes, _ := field(plan, kind).([]any)
		for _, c := range changes {
			collectChange(field(c, "change"), found)
		}
	}
	outputs, _ := field(plan, "output_changes").(map[string]any)
	for _, output := range outputs {
		collectChange(output, found)
	}
	root := field(field(plan, "configuration"), "root_module")
	declared := field(root, "variables")
	values, _ := field(plan, "variables").(map[string]any)
	for name, value := range values {
		collect(field(value, "value"), field(field(declared, name), "sensitive"), found)
	}
	collectDefaults(root, found)
	collectValues(field(field(plan, "prior_state"), "values"), found)
	collectValues(field(plan, "planned_values"), found)
	return slices.SortedFunc(maps.Keys(found), func(a, b string) int { return len(b) - len(a) })
}

func collectChange(change any, found map[string]bool) {
	for _, when := range []string{"before", "after"} {
		collect(field(change, when), field(change, when+"_sensitive"), found)
	}
}

// collectValues finds the sensitive texts of a state or of planned values: of outputs,
// and of the objects of all modules, data sources' too.
func collectValues(values any, found map[string]bool) {
	outputs, _ := field(values, "outputs").(map[string]any)
	for _, output := range outputs {
		collect(field(output, "value"), field(output, "sensitive"), found)
	}
	for modules := []any{field(values, "root_module")}; len(modules) > 0; modules = modules[1:] {
		resources, _ := field(modules[0], "resources").([]any)
		for _, resource := range resources {
			collect(field(resource, "values"), field(resource, "sensitive_values"), found)
		}
		children, _ := field(modules[0], "child_modules").([]any)
		modules = append(modules, children...)
	}
}

// collectDefaults finds the defaults of the sensitive variables of a module and of those that it calls.
func collectDefaults(module any, found map[string]bool) {
	for modules := []any{module}; len(modules) > 0; modules = modules[1:] {
		variables, _ := field(modules[0], "variables").(map[string]any)
		for _, variable := range variables {
			collect(field(variable, "default"), field(variable, "sensitive"), found)
		}
		calls, _ := field(modules[0], "module_calls").(map[string]any)
		for _, call := range calls {
			modules = append(modules, field(call, "module"))
		}
	}
}

func field(value any, name string) any {
	object, _ := value.(map[string]any)
	return object[name]
}

// collect finds the texts of a value where its marks say that it is sensitive.
func collect(value, marks any, found map[string]bool) {
	switch marks := marks.(type) {
	case bool:
		if marks {
			collectAll(value, found)
		}
	case map[string]any:
		for name, mark := range marks {
			collect(field(value, name), mark, found)
		}
	case []any:
		items, _ := value.([]any)
		for i := range min(len(items), len(marks)) {
			collect(items[i], marks[i], found)
		}
	}
}

func collectAll(value any, found map[string]bool) {
	switch value := value.(type) {
	case string:
		keep(value, found)
	case json.Number:
		keep(value.String(), found)
	case []any:
		for _, item := range value {
			collectAll(item, found)
		}
	case map[string]any:
		for _, item := range value {
			collectAll(item, found)
		}
	}
}

func keep(text string, found map[string]bool) {
	if len(text) >= minSecret {
		found[text] = true
	}
	// A text of several lines or with quotes appears as JSON where a policy prints a whole object.
	if quoted, err := json.Marshal(text); err == nil && len(text) >= minSecret {
		found[strings.Trim(string(quoted), `"`)] = true
	}
}

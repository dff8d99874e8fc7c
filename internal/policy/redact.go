package policy

import (
	"encoding/json"
	"slices"
	"strings"
)

// minSecret is the length from which a sensitive value is looked for in messages:
// shorter ones would take words apart, and say little.
const minSecret = 4

// hidden stands where a message had a sensitive value.
const hidden = "(sensitive value)"

// Redact hides in messages what the plan JSON marks as sensitive: policies see all
// values, and may put any into their words.
func Redact(findings []Finding, plan any) {
	if len(findings) == 0 {
		return
	}
	secrets := secretsOf(plan)
	if len(secrets) == 0 {
		return
	}
	pairs := make([]string, 0, 2*len(secrets))
	for _, secret := range secrets {
		pairs = append(pairs, secret, hidden)
	}
	replacer := strings.NewReplacer(pairs...)
	for i := range findings {
		findings[i].Message = replacer.Replace(findings[i].Message)
	}
}

// secretsOf returns the sensitive texts of a plan, the longest first.
func secretsOf(plan any) []string {
	found := map[string]bool{}
	root, _ := plan.(map[string]any)
	for _, kind := range []string{"resource_changes", "resource_drift"} {
		changes, _ := root[kind].([]any)
		for _, c := range changes {
			change, _ := field(c, "change").(map[string]any)
			collect(change["before"], change["before_sensitive"], found)
			collect(change["after"], change["after_sensitive"], found)
		}
	}
	outputs, _ := root["output_changes"].(map[string]any)
	for _, output := range outputs {
		change, _ := output.(map[string]any)
		collect(change["before"], change["before_sensitive"], found)
		collect(change["after"], change["after_sensitive"], found)
	}
	declared, _ := field(field(root["configuration"], "root_module"), "variables").(map[string]any)
	values, _ := root["variables"].(map[string]any)
	for name, value := range values {
		collect(field(value, "value"), field(declared[name], "sensitive"), found)
	}
	secrets := make([]string, 0, len(found))
	for secret := range found {
		secrets = append(secrets, secret)
	}
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	return secrets
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

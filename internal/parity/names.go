package parity

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// names gives what a program or a cloud invented the names of where it was first
// seen, so that the inventions of two programs can be compared: an id is as good
// as another, but it must be the same one everywhere.
type names struct {
	// known are the names of invented texts.
	known map[string]string
	// replacer replaces them; nil if it has to be made anew.
	replacer *strings.Replacer
	// used counts the texts that were seen at one place, one after the other.
	used map[string]int
	// since is before every time that is invented.
	since time.Time
}

func newNames(since time.Time) *names {
	return &names{known: map[string]string{}, used: map[string]int{}, since: since.Add(-time.Hour)}
}

// Names are in these brackets, which nothing else contains.
const opening, closing = "⟨", "⟩"

var (
	// uuids and ids match what is made up at random.
	uuids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	ids   = regexp.MustCompile(strings.Join([]string{
		`\b[a-z]+(?:-[a-z]+)*-(?:[0-9a-f]{16,28}|[0-9a-f]{8}|[0-9]{6,10})\b`, // of objects, with the time or a checksum
		`\b[A-Z0-9]{14,22}\b`,                   // of keys, policies and zones
		`\bsecret:[\w/+=.@-]+-[A-Za-z0-9]{6}\b`, // at the end of a secret's name
	}, "|"))
	// requests matches what a cloud calls a request, which nothing refers to.
	requests = regexp.MustCompile(`RequestID: [\w-]+`)
	// stamps matches times, stampLayouts are the ways in which they are written.
	stamps       = regexp.MustCompile(`\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d|\+0000| \+0000 UTC)`)
	stampLayouts = []string{time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02 15:04:05 -0700 MST"}
)

// learn names what is invented in a state file. Ids come first, so that other
// attributes that hold them are told by the object they name.
func (n *names) learn(state any) {
	resources, _ := field(state, "resources").([]any)
	for _, only := range []string{"id", ""} {
		for _, r := range resources {
			addr := text(field(r, "module")) + text(field(r, "type")) + "." + text(field(r, "name"))
			instances, _ := field(r, "instances").([]any)
			for _, instance := range instances {
				at := addr + "[" + text(field(instance, "index_key")) + "]"
				if key, ok := field(instance, "deposed").(string); ok {
					n.name(key, at+".deposed")
				}
				attributes, _ := field(instance, "attributes").(map[string]any)
				for _, key := range slices.Sorted(maps.Keys(attributes)) {
					if only == "" || key == only {
						n.learnIn(attributes[key], at+"."+key)
					}
				}
			}
		}
	}
}

// learnIn names what is invented in a value and all that is in it.
func (n *names) learnIn(v any, at string) {
	switch v := v.(type) {
	case string:
		for _, found := range append(uuids.FindAllString(v, -1), ids.FindAllString(uuids.ReplaceAllString(v, ""), -1)...) {
			n.name(found, at)
		}
	case []any:
		for _, element := range v {
			n.learnIn(element, at)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			n.learnIn(v[key], at+"."+key)
		}
	}
}

func (n *names) name(found, at string) {
	if _, ok := n.known[found]; ok || found == "" {
		return
	}
	n.used[at]++
	if count := n.used[at]; count > 1 {
		at = fmt.Sprintf("%s #%d", at, count)
	}
	n.known[found] = opening + at + closing
	n.replacer = nil
}

// endpoints matches where a cloud of the tests listens.
var endpoints = regexp.MustCompile(`127\.0\.0\.1:\d+`)

// replace gives invented texts and times in a text their names.
func (n *names) replace(s string) string {
	s = endpoints.ReplaceAllString(s, opening+"cloud"+closing)
	s = n.naming().Replace(s)
	s = requests.ReplaceAllString(s, "RequestID: "+opening+"new"+closing)
	s = uuids.ReplaceAllString(s, opening+"new"+closing)
	return stamps.ReplaceAllStringFunc(s, func(found string) string {
		for _, layout := range stampLayouts {
			if at, err := time.Parse(layout, found); err == nil && at.After(n.since) {
				return opening + "time" + closing
			}
		}
		return found
	})
}

// naming replaces all known texts, also inside of others that are made up of them,
// longer ones first.
func (n *names) naming() *strings.Replacer {
	if n.replacer == nil {
		known := slices.SortedFunc(maps.Keys(n.known), func(a, b string) int {
			return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
		})
		var pairs []string
		for _, found := range known {
			pairs = append(pairs, found, n.known[found])
		}
		n.replacer = strings.NewReplacer(pairs...)
	}
	return n.replacer
}

// in gives what is invented in a document its names. Lists with names in them are
// sorted: most come from sets, whose order depends on what was invented.
func (n *names) in(v any) any {
	switch v := v.(type) {
	case string:
		return n.replace(v)
	case []any:
		out := make([]any, len(v))
		for i, element := range v {
			out[i] = n.in(element)
		}
		if named(out) {
			sortByText(out)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			out[n.replace(key)] = n.in(value)
		}
		return out
	default:
		return v
	}
}

// named tells whether a list is one of attribute values with names in it; a list
// of things with addresses has an order of its own.
func named(list []any) bool {
	for _, element := range list {
		if field(element, "address") != nil || field(element, "instances") != nil || field(element, "attributes") != nil {
			return false
		}
	}
	return strings.Contains(encoded(list), opening)
}

func sortByText(list []any) {
	slices.SortStableFunc(list, func(a, b any) int { return cmp.Compare(encoded(a), encoded(b)) })
}

// field is an element of an object, or nil.
func field(v any, name string) any {
	object, _ := v.(map[string]any)
	return object[name]
}

func text(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// encoded is a value that was decoded from JSON, as JSON again.
func encoded(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(data)
}

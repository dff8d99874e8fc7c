package chaos

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/simcloud/cloudapi"
)

// The objects of a site: each slot declares one object or none. Objects refer to
// secrets, so that some values are known only while they are made.
const (
	configs = 4
	secrets = 2
	rules   = 2
	// movers get another name with every replacement, and the new object before the
	// old one is gone.
	movers = 2
	slots  = configs + secrets + rules + movers
	// mostChanges bounds how many slots one revision changes.
	mostChanges = 5
	service     = "shop"
)

// object is what a slot declares.
type object struct {
	ref cloudapi.Ref
	// value is in an attribute that can be changed, turn in one that replaces.
	value, turn int
	// secret is the slot that the object refers to, -1 for none.
	secret int
}

// declared is what a site's newest revision says, and what must come of it.
type declared struct {
	environment string
	objects     map[int]object
	// made counts how often each object must have been created since the beginning.
	made map[cloudapi.Ref]int
	// calls is how many calls to the cloud the newest revision takes.
	calls int
	next  int
}

func newDeclared(environment string) *declared {
	return &declared{environment: environment, objects: map[int]object{}, made: map[cloudapi.Ref]int{}}
}

// change makes the next revision: a few objects created, changed, replaced and deleted.
func (d *declared) change(random *rand.Rand) {
	d.calls = 0
	for _, slot := range random.Perm(slots)[:1+random.IntN(mostChanges)] {
		d.next++
		before, there := d.objects[slot]
		switch choice := random.IntN(4); {
		case !there:
			d.objects[slot] = d.create(slot, object{ref: d.ref(slot), value: d.next, secret: -1})
		case choice == 0:
			delete(d.objects, slot)
			d.calls++
		case choice == 1:
			after := before
			after.turn++
			after.ref = d.ref(slot)
			d.calls++
			d.objects[slot] = d.create(slot, after)
		default:
			before.value = d.next
			d.objects[slot] = before
			d.calls++
		}
	}
	d.refer(random)
}

func (d *declared) create(slot int, o object) object {
	d.made[o.ref]++
	d.calls++
	return o
}

// refer has each config refer to a secret that is declared, or to none.
func (d *declared) refer(random *rand.Rand) {
	for slot := range configs {
		o, there := d.objects[slot]
		if !there {
			continue
		}
		if _, stays := d.objects[o.secret]; !stays || random.IntN(8) == 0 {
			o.secret = configs + random.IntN(secrets)
			if _, there := d.objects[o.secret]; !there {
				o.secret = -1
			}
			d.objects[slot] = o
		}
	}
}

// ref names a slot's object; a mover's name is never used again.
func (d *declared) ref(slot int) cloudapi.Ref {
	name := fmt.Sprintf("slot-%d", slot)
	if kindOf(slot) == "mover" {
		name += fmt.Sprintf("-%d", d.next)
	}
	kind := map[string]string{"config": "config", "secret": "secret_claim", "rule": "network_rule", "mover": "config"}[kindOf(slot)]
	return cloudapi.Ref{Environment: d.environment, Service: service, Kind: kind, Name: name}
}

func kindOf(slot int) string {
	switch {
	case slot < configs:
		return "config"
	case slot < configs+secrets:
		return "secret"
	case slot < configs+secrets+rules:
		return "rule"
	}
	return "mover"
}

// configuration is the revision's root module.
func (d *declared) configuration() string {
	var out strings.Builder
	out.WriteString("terraform {\n  required_providers {\n    simcloud = {\n      source = \"towline/simcloud\"\n    }\n  }\n}\n")
	for _, slot := range slices.Sorted(maps.Keys(d.objects)) {
		o := d.objects[slot]
		fmt.Fprintf(&out, "\nresource \"simcloud_%s\" \"slot%d\" {\n  environment = %q\n  service     = %q\n  name        = %q\n", o.ref.Kind, slot, o.ref.Environment, o.ref.Service, o.ref.Name)
		switch kindOf(slot) {
		case "config":
			reference := `"none"`
			if o.secret >= 0 {
				reference = fmt.Sprintf("simcloud_secret_claim.slot%d.path", o.secret)
			}
			fmt.Fprintf(&out, "  data        = { value = \"%d\", secret = %s }\n  format      = %q\n", o.value, reference, format(o))
		case "secret":
			fmt.Fprintf(&out, "  length      = %d\n  usage       = [\"value-%d\"]\n", length(o), o.value)
		case "rule":
			fmt.Fprintf(&out, "  direction   = %q\n  priority    = %d\n", direction(o), priority(o))
		case "mover":
			fmt.Fprintf(&out, "  data        = { value = \"%d\" }\n  lifecycle {\n    create_before_destroy = true\n  }\n", o.value)
		}
		out.WriteString("}\n")
	}
	return out.String()
}

// attributes are what an object must have in the cloud. A reference's value is
// whatever the cloud says of the secret.
func (d *declared) attributes(slot int, pathOf func(cloudapi.Ref) any) map[string]any {
	o := d.objects[slot]
	switch kindOf(slot) {
	case "config":
		var secret any = "none"
		if o.secret >= 0 {
			secret = pathOf(d.objects[o.secret].ref)
		}
		return map[string]any{"data": map[string]any{"value": fmt.Sprint(o.value), "secret": secret}, "format": format(o)}
	case "secret":
		return map[string]any{"length": length(o), "usage": []string{fmt.Sprintf("value-%d", o.value)}}
	case "rule":
		return map[string]any{"direction": direction(o), "priority": priority(o)}
	}
	return map[string]any{"data": map[string]any{"value": fmt.Sprint(o.value)}}
}

func format(o object) string    { return []string{"env", "json"}[o.turn%2] }
func direction(o object) string { return []string{"ingress", "egress"}[o.turn%2] }
func length(o object) int       { return 16 + o.turn%2 }
func priority(o object) int     { return 1 + o.value%65535 }

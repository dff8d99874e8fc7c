package cloudapi_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/towline/terraform-provider-towline/internal/simcloud/cloudapi"
)

func decode(t testing.TB, text string) map[string]any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var out map[string]any
	if err := decoder.Decode(&out); err != nil {
		t.Fatalf("decoding %s: %v", text, err)
	}
	return out
}

func kindNamed(t testing.TB, name string) *cloudapi.Kind {
	t.Helper()
	kind, ok := cloudapi.KindNamed(name)
	if !ok {
		t.Fatalf("no kind %q", name)
	}
	return kind
}

func TestNormaliseFillsInAndSorts(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ kind, in, want string }{
		"defaults": {
			"deployment", `{"container":[{"name":"app","image":"app:1"}]}`,
			`{"replicas":1,"architecture":"amd64","paused":false,
			  "container":[{"name":"app","image":"app:1","cpu":0.25,"memory_mib":128,"port":[]}]}`,
		},
		"null is absent": {
			"config", `{"data":{"a":"b"},"labels":null,"immutable":null}`,
			`{"data":{"a":"b"},"format":"env","immutable":false}`,
		},
		"sets have an order and no doubles": {
			"network_rule", `{"direction":"ingress","priority":10,"ports":[443,80,443],"peer":[{"cidr":"10.0.0.0/8"},{"cidr":"10.0.0.0/8"}]}`,
			`{"direction":"ingress","priority":10,"action":"allow","ports":[443,80],"peer":[{"cidr":"10.0.0.0/8"}]}`,
		},
		"an empty list is not an absent one": {
			"scheduled_job", `{"schedule":"*/5 * * * *","image":"job:1","command":[]}`,
			`{"schedule":"*/5 * * * *","image":"job:1","command":[],"suspend":false,"concurrency":"allow","retries":0}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, problems := kindNamed(t, test.kind).Normalise(decode(t, test.in))
			if len(problems) > 0 {
				t.Fatalf("problems: %v", problems)
			}
			if diff := cmp.Diff(decode(t, test.want), got); diff != "" {
				t.Errorf("normal form (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNormaliseNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ kind, in, field, message string }{
		"missing":          {"config", `{}`, "data", "is required"},
		"unknown":          {"config", `{"data":{},"color":"red"}`, "color", "is not an attribute"},
		"computed":         {"config", `{"data":{},"checksum":"x"}`, "checksum", "is set by the cloud"},
		"wrong type":       {"config", `{"data":"text"}`, "data", "must be a map of texts"},
		"wrong map value":  {"config", `{"data":{"a":1}}`, "data.a", "must be text"},
		"not one of":       {"service", `{"selector":{},"ports":[{"name":"a","port":1}],"type":"odd"}`, "type", "must be one of"},
		"out of range":     {"service", `{"selector":{},"ports":[{"name":"a","port":70000}]}`, "ports.0.port", "between 1 and 65535"},
		"fraction":         {"service", `{"selector":{},"ports":[{"name":"a","port":1.5}]}`, "ports.0.port", "whole number"},
		"no element":       {"service", `{"selector":{},"ports":[]}`, "ports", "at least one"},
		"too many":         {"service", `{"selector":{},"ports":[` + strings.Repeat(`{"name":"a","port":1},`, 50) + `{"name":"a","port":1}]}`, "ports", "at most 50"},
		"bad network":      {"service", `{"selector":{},"ports":[{"name":"a","port":1}],"allowed_cidrs":["10.0.0.1/8"]}`, "allowed_cidrs.0", "must be a network"},
		"bad image":        {"scheduled_job", `{"schedule":"* * * * *","image":"Not An Image"}`, "image", "must be an image reference"},
		"bad schedule":     {"scheduled_job", `{"schedule":"61 * * * *","image":"a"}`, "schedule", "five fields"},
		"nested in nested": {"deployment", `{"container":[{"name":"a","image":"a","port":[{"name":"p","number":0}]}]}`, "container.0.port.0.number", "between"},
		"huge number":      {"deployment", `{"replicas":1e999999,"container":[{"name":"a","image":"a"}]}`, "replicas", "must be a number"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, problems := kindNamed(t, test.kind).Normalise(decode(t, test.in))
			for _, problem := range problems {
				if problem.Field == test.field && strings.Contains(problem.Message, test.message) {
					return
				}
			}
			t.Errorf("got %v, want one for %s with %q", problems, test.field, test.message)
		})
	}
}

func TestRefCheck(t *testing.T) {
	t.Parallel()
	good := cloudapi.Ref{Environment: "prod", Service: "shop", Kind: "config", Name: "a_b-1"}
	if problems := good.Check(); problems != nil {
		t.Errorf("%s: %v", good, problems)
	}
	for _, name := range []string{"", "..", "a/b", "-a", "A", strings.Repeat("a", 64)} {
		bad := good
		bad.Name = name
		if problems := bad.Check(); len(problems) != 1 || problems[0].Field != "name" {
			t.Errorf("name %q: got %v, want one problem with the name", name, problems)
		}
	}
	if problems := (cloudapi.Ref{Environment: "a", Service: "b", Kind: "cluster", Name: "c"}).Check(); len(problems) != 1 {
		t.Errorf("unknown kind: got %v, want one problem", problems)
	}
}

func FuzzNormalise(f *testing.F) {
	f.Add("deployment", `{"replicas":3,"container":[{"name":"a","image":"b","cpu":0.1,"port":[{"name":"p","number":1}]}]}`)
	f.Add("network_rule", `{"direction":"egress","priority":1,"ports":[2,1],"peer":[{"cidr":"10.0.0.0/8","except":["10.1.0.0/16"]}]}`)
	f.Add("scheduled_job", `{"schedule":"1-5,7/2 * * * *","image":"a","history":{"successful":1,"failed":1}}`)
	f.Fuzz(func(t *testing.T, kindName, text string) {
		kind, ok := cloudapi.KindNamed(kindName)
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		var in map[string]any
		if !ok || decoder.Decode(&in) != nil {
			return
		}
		once, problems := kind.Normalise(in)
		if len(problems) > 0 {
			return
		}
		twice, problems := kind.Normalise(once)
		if len(problems) > 0 || !reflect.DeepEqual(once, twice) {
			t.Errorf("a normal form is not its own: %v\n%v\n%v", problems, once, twice)
		}
	})
}

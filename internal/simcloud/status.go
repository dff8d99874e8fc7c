package simcloud

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sort"
	"strconv"
	"time"

	"github.com/towline/terraform-provider-towline/internal/simcloud/cloudapi"
)

// choices are what the cloud chooses for attributes that nobody set.
var choices = map[string]map[string]func(id string) any{
	"deployment": {
		"annotations":       func(string) any { return map[string]any{"scheduler": "standard"} },
		"node_pool":         func(id string) any { return "pool-" + string("abc"[hash(id)%3]) },
		"min_ready_seconds": func(string) any { return json.Number("5") },
		"strategy":          func(string) any { return map[string]any{} },
	},
	"service":       {"idle_timeout_seconds": func(string) any { return json.Number("60") }},
	"secret_claim":  {"ttl_hours": func(string) any { return json.Number("720") }},
	"scheduled_job": {"timezone": func(string) any { return "UTC" }},
	"network_rule":  {"logging": func(string) any { return false }},
}

// adopt fills in what the client left to the cloud: what the object had before,
// else the cloud's choice.
func adopt(kind *cloudapi.Kind, id string, attributes map[string]any, before *cloudapi.Object) {
	for _, attribute := range kind.Attributes {
		_, set := attributes[attribute.Name]
		if set || attribute.Presence != cloudapi.Adopted {
			continue
		}
		if before != nil && before.Attributes[attribute.Name] != nil {
			attributes[attribute.Name] = before.Attributes[attribute.Name]
		} else if choose := choices[kind.Name][attribute.Name]; choose != nil {
			attributes[attribute.Name] = choose(id)
		}
	}
	adoptNested(kind, attributes)
}

// adoptNested fills in the fields of nested attributes, which have no history of their own.
func adoptNested(kind *cloudapi.Kind, attributes map[string]any) {
	switch kind.Name {
	case "deployment":
		attributes["strategy"] = withDefaults(attributes["strategy"], map[string]any{
			"type": "rolling", "max_surge": json.Number("1"), "max_unavailable": json.Number("0"),
		})
	case "service":
		ports := list(attributes["ports"])
		for i := range ports {
			ports[i] = withDefaults(ports[i], map[string]any{"target_port": object(ports[i])["port"]})
		}
	}
}

// withDefaults returns a copy: values that came from an earlier object are shared with readers.
func withDefaults(value any, defaults map[string]any) map[string]any {
	out := make(map[string]any, len(defaults))
	for key, fallback := range defaults {
		out[key] = fallback
	}
	for key, own := range object(value) {
		out[key] = own
	}
	return out
}

// status returns what the cloud adds to an object.
func status(seed uint64, o *cloudapi.Object) map[string]any {
	switch o.Kind {
	case "deployment":
		return map[string]any{
			"available_replicas": o.Attributes["replicas"],
			"address":            fmt.Sprintf("%s.%s.%s.sim.internal", o.Name, o.Service, o.Environment),
		}
	case "service":
		return serviceStatus(o)
	case "config":
		return configStatus(o)
	case "secret_claim":
		return secretStatus(seed, o)
	case "scheduled_job":
		return map[string]any{"queue": o.Environment + "-" + string("xyz"[hash(o.ID)%3]), "enabled": o.Attributes["suspend"] != true}
	default:
		return map[string]any{"rule_number": number(int64(1000 + hash(o.ID)%60000))}
	}
}

func serviceStatus(o *cloudapi.Object) map[string]any {
	h := hash(o.ID)
	address := fmt.Sprintf("10.%d.%d.%d", 64+h%64, h>>8%256, 1+h>>16%254)
	endpoint := address
	if ports := list(o.Attributes["ports"]); len(ports) > 0 {
		endpoint = fmt.Sprintf("%s:%v", address, object(ports[0])["port"])
	}
	ingress := []any{}
	if o.Attributes["type"] == "public" {
		ingress = append(ingress, fmt.Sprintf("203.0.113.%d", 1+h%254), fmt.Sprintf("198.51.100.%d", 1+h>>8%254))
	}
	return map[string]any{"cluster_address": address, "endpoint": endpoint, "ingress_addresses": ingress}
}

func configStatus(o *cloudapi.Object) map[string]any {
	data := object(o.Attributes["data"])
	keys := make([]string, 0, len(data))
	for key := range data {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	sum, size := sha256.New(), 0
	for _, key := range keys {
		line := strconv.Quote(key) + "=" + strconv.Quote(fmt.Sprint(data[key])) + "\n"
		sum.Write([]byte(line))
		size += len(key) + len(fmt.Sprint(data[key]))
	}
	return map[string]any{"checksum": hex.EncodeToString(sum.Sum(nil)), "size_bytes": number(int64(size))}
}

func secretStatus(seed uint64, o *cloudapi.Object) map[string]any {
	key := binary.BigEndian.AppendUint64(nil, seed)
	sum := sha256.Sum256(append(key, "token of "+o.ID...))
	length, ttl := integer(o.Attributes["length"]), integer(o.Attributes["ttl_hours"])
	token := hex.EncodeToString(sum[:])
	return map[string]any{
		"path":       fmt.Sprintf("secret/%s/%s/%s", o.Environment, o.Service, o.Name),
		"token":      token[:min(max(length, 0), int64(len(token)))],
		"expires_at": o.Created.Add(time.Duration(ttl) * time.Hour).Format(time.RFC3339),
	}
}

func hash(text string) uint32 {
	sum := sha256.Sum256([]byte(text))
	return binary.BigEndian.Uint32(sum[:])
}

// object, list and integer read values that Normalise has put in shape; anything else is empty.

func object(value any) map[string]any {
	out, _ := value.(map[string]any)
	return out
}

func list(value any) []any {
	out, _ := value.([]any)
	return out
}

func integer(value any) int64 {
	text, _ := value.(json.Number)
	out, err := text.Int64()
	if err != nil {
		return 0
	}
	return out
}

func number(value int64) json.Number { return json.Number(strconv.FormatInt(value, 10)) }

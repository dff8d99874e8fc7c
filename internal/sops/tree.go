package sops

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/towline/terraform-provider-towline/internal/bounds"
)

// item is a name and its value: a scalar, nil, []any or []item. Their order counts in the MAC.
type item struct {
	name  string
	value any
}

// metadataName is the name under which SOPS keeps what it knows of a file.
const metadataName = "sops"

// parse splits a file into its values and SOPS's metadata.
func parse(format Format, data []byte) ([]item, metadata, error) {
	var tree []item
	var err error
	switch format {
	case JSON:
		tree, err = parseJSON(data)
	case YAML:
		tree, err = parseYAML(data)
	case Dotenv:
		tree, err = parseDotenv(data)
	default:
		err = fmt.Errorf("%w: files of the kind %q", ErrUnsupported, format)
	}
	if err != nil {
		return nil, metadata{}, err
	}
	for i, it := range tree {
		if inner, ok := it.value.([]item); ok && it.name == metadataName {
			meta, err := readMetadata(plain(inner))
			return append(tree[:i:i], tree[i+1:]...), meta, err
		}
	}
	return nil, metadata{}, fmt.Errorf("%w: it has no metadata", ErrMalformed)
}

// plain gives up the order of a tree.
func plain(items []item) map[string]any {
	out := make(map[string]any, len(items))
	for _, it := range items {
		out[it.name] = plainValue(it.value)
	}
	return out
}

func plainValue(val any) any {
	switch val := val.(type) {
	case []item:
		return plain(val)
	case []any:
		out := make([]any, len(val))
		for i := range val {
			out[i] = plainValue(val[i])
		}
		return out
	case time.Time:
		return val.Format(time.RFC3339Nano)
	}
	return val
}

func parseJSON(data []byte) ([]item, error) {
	if err := bounds.JSON(data); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	val, err := jsonValue(decoder)
	tree, ok := val.([]item)
	if err != nil || !ok || decoder.More() {
		return nil, fmt.Errorf("%w: it is no JSON object", ErrMalformed)
	}
	return tree, nil
}

func jsonValue(decoder *json.Decoder) (any, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case json.Delim:
		if token == '{' {
			return jsonObject(decoder)
		}
		return jsonList(decoder)
	case json.Number:
		if n, err := strconv.Atoi(token.String()); err == nil {
			return n, nil
		}
		return token.Float64()
	}
	return token, nil
}

func jsonObject(decoder *json.Decoder) (any, error) {
	items, seen := []item{}, map[string]bool{}
	for decoder.More() {
		token, err := decoder.Token()
		name, ok := token.(string)
		if err != nil || !ok || seen[name] {
			return nil, ErrMalformed
		}
		seen[name] = true
		val, err := jsonValue(decoder)
		if err != nil {
			return nil, err
		}
		items = append(items, item{name, val})
	}
	_, err := decoder.Token()
	return items, err
}

func jsonList(decoder *json.Decoder) (any, error) {
	list := []any{}
	for decoder.More() {
		val, err := jsonValue(decoder)
		if err != nil {
			return nil, err
		}
		list = append(list, val)
	}
	_, err := decoder.Token()
	return list, err
}

func parseYAML(data []byte) ([]item, error) {
	if err := bounds.YAML(data); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	if err := decoder.Decode(&doc); err != nil || len(doc.Content) != 1 {
		return nil, fmt.Errorf("%w: it is no YAML mapping", ErrMalformed)
	}
	if decoder.Decode(&second) == nil {
		return nil, fmt.Errorf("%w: several YAML documents in one file", ErrUnsupported)
	}
	val, err := yamlValue(doc.Content[0])
	tree, ok := val.([]item)
	if err == nil && !ok {
		err = fmt.Errorf("%w: it is no YAML mapping", ErrMalformed)
	}
	return tree, err
}

func yamlValue(node *yaml.Node) (any, error) {
	switch node.Kind {
	case yaml.MappingNode:
		return yamlMapping(node)
	case yaml.SequenceNode:
		list := make([]any, len(node.Content))
		for i, inner := range node.Content {
			var err error
			if list[i], err = yamlValue(inner); err != nil {
				return nil, err
			}
		}
		return list, nil
	case yaml.ScalarNode:
		var val any
		if err := node.Decode(&val); err != nil {
			return nil, fmt.Errorf("%w: line %d is no YAML value", ErrMalformed, node.Line)
		}
		return val, nil
	}
	return nil, fmt.Errorf("%w: anchors and aliases, in line %d", ErrUnsupported, node.Line)
}

func yamlMapping(node *yaml.Node) (any, error) {
	items, seen := []item{}, map[string]bool{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		name := node.Content[i]
		if name.Kind != yaml.ScalarNode || name.ShortTag() != "!!str" || seen[name.Value] {
			return nil, fmt.Errorf("%w: line %d has a name that is no text, or is there twice", ErrMalformed, name.Line)
		}
		seen[name.Value] = true
		val, err := yamlValue(node.Content[i+1])
		if err != nil {
			return nil, err
		}
		items = append(items, item{name.Value, val})
	}
	return items, nil
}

// parseDotenv reads lines NAME=VALUE. Metadata are lines too, under flattened names.
func parseDotenv(data []byte) ([]item, error) {
	items, seen := []item{}, map[string]bool{}
	flat := map[string]string{}
	for number, line := range strings.Split(string(data), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		name, val, ok := strings.Cut(line, "=")
		if !ok || seen[name] {
			return nil, fmt.Errorf("%w: line %d is not NAME=VALUE, or the name is there twice", ErrMalformed, number+1)
		}
		seen[name] = true
		val = strings.ReplaceAll(val, `\n`, "\n")
		if inner, ok := strings.CutPrefix(name, metadataName+"_"); ok {
			flat[inner] = val
			continue
		}
		items = append(items, item{name, val})
	}
	if len(flat) > 0 {
		items = append(items, item{metadataName, unflatten(flat)})
	}
	return items, nil
}

// maxFlat bounds the position of a key in a flattened list.
const maxFlat = 64

// unflatten reads names such as age__list_0__map_enc.
func unflatten(flat map[string]string) []item {
	var out []item
	for _, kind := range []string{"age", "kms"} {
		var list []any
		for position := range maxFlat {
			prefix := kind + "__list_" + strconv.Itoa(position) + "__map_"
			var fields, context []item
			for name, val := range flat {
				if inner, ok := strings.CutPrefix(name, prefix+"context__map_"); ok {
					context = append(context, item{inner, val})
				} else if inner, ok := strings.CutPrefix(name, prefix); ok {
					fields = append(fields, item{inner, val})
				}
			}
			if len(fields) == 0 {
				break
			}
			if len(context) > 0 {
				fields = append(fields, item{"context", context})
			}
			list = append(list, fields)
		}
		out = append(out, item{kind, list})
	}
	for name, val := range flat {
		if !strings.Contains(name, "__") {
			out = append(out, item{name, val})
		} else if strings.HasPrefix(name, "key_groups__") {
			out = append(out, item{"key_groups", []any{val}})
		}
	}
	return out
}

package bounds

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"go.yaml.in/yaml/v3"
)

const (
	// maxDataDepth bounds arrays and objects inside each other in JSON and YAML.
	maxDataDepth = 1000
	// maxYAMLNodes bounds the values of a YAML text with every alias written out.
	maxYAMLNodes = 1_000_000
)

var errDeep = fmt.Errorf("values are nested more than %d deep", maxDataDepth)

// JSON refuses a text whose arrays and objects no parser should follow. It returns
// nil for everything else, right or wrong.
func JSON(src []byte) error {
	depth, inString := 0, false
	for i := 0; i < len(src); i++ {
		switch c := src[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '[' || c == '{':
			if depth++; depth > maxDataDepth {
				return errDeep
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return nil
}

// HCLJSON is [HCL] for configuration in JSON, in whose strings are templates.
func HCLJSON(src []byte, filename string) hcl.Diagnostics {
	at := hcl.Range{Filename: filename, Start: hcl.InitialPos, End: hcl.InitialPos}
	if err := JSON(src); err != nil {
		return hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Nesting too deep", Subject: &at, Detail: fmt.Sprintf("In this file %s.", err)}}
	}
	decoder := json.NewDecoder(bytes.NewReader(src))
	decoder.UseNumber()
	for {
		token, err := decoder.Token()
		if err != nil {
			return nil //nolint:nilerr // the end, or a problem for the parser
		}
		if text, ok := token.(string); ok && len(text) > maxDepth {
			if diags := Template([]byte(text), filename); diags.HasErrors() {
				return diags
			}
		}
	}
}

// YAML refuses a text whose aliases or nesting would grow beyond all measure. It
// returns nil for everything else, right or wrong.
func YAML(src []byte) error {
	var root yaml.Node
	if yaml.Unmarshal(src, &root) != nil {
		return nil //nolint:nilerr // a problem for the parser
	}
	c := yamlCounter{sizes: map[*yaml.Node]int{}}
	_, err := c.size(&root, 0)
	return err
}

// yamlCounter computes sizes with aliases written out, each node's once.
type yamlCounter struct{ sizes map[*yaml.Node]int }

func (c yamlCounter) size(n *yaml.Node, depth int) (int, error) {
	if depth > maxDataDepth {
		return 0, errDeep
	}
	if size, seen := c.sizes[n]; seen {
		if size == 0 {
			return 0, errors.New("an alias refers to what it stands in")
		}
		return size, nil
	}
	c.sizes[n] = 0 // under way
	total := 1
	parts := n.Content
	if n.Kind == yaml.AliasNode {
		parts = []*yaml.Node{n.Alias}
	}
	for _, part := range parts {
		size, err := c.size(part, depth+1)
		if err != nil {
			return 0, err
		}
		if total += size; total > maxYAMLNodes {
			return 0, fmt.Errorf("with all aliases written out there are more than %d values", maxYAMLNodes)
		}
	}
	c.sizes[n] = total
	return total, nil
}

package addrs

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// Target is what -target may name: a module (instance or all), a resource (all
// its instances) or one resource instance.
type Target struct {
	Module ModuleInstance
	// Resource is the zero value if the target is a whole module.
	Resource Resource
	Key      InstanceKey
	// HasKey tells `a[0]` from `a`, which means all instances.
	HasKey bool
}

// String returns the target as a user would write it.
func (t Target) String() string {
	if t.Resource == (Resource{}) {
		return t.Module.String()
	}
	return ResourceInstance{Module: t.Module, Resource: t.Resource, Key: t.Key}.String()
}

// Contains tells whether the target covers a resource instance. A module step
// without a key covers all instances of that call.
func (t Target) Contains(addr ResourceInstance) bool {
	if len(addr.Module) < len(t.Module) {
		return false
	}
	for i, step := range t.Module {
		if step.Name != addr.Module[i].Name || (step.Key != NoKey && step.Key != addr.Module[i].Key) {
			return false
		}
	}
	if t.Resource == (Resource{}) {
		return true
	}
	return len(addr.Module) == len(t.Module) && t.Resource == addr.Resource && (!t.HasKey || t.Key == addr.Key)
}

// ParseTarget reads an address as in -target.
func ParseTarget(text string) (Target, tfdiags.Diagnostics) {
	traversal, hclDiags := hclsyntax.ParseTraversalAbs([]byte(text), "", hcl.InitialPos)
	if hclDiags.HasErrors() {
		return Target{}, invalidAddress(text, "it is not a valid address")
	}
	return ParseTargetTraversal(traversal, text)
}

// ParseTargetTraversal is [ParseTarget] for a traversal found in configuration;
// text is how diagnostics name it.
func ParseTargetTraversal(traversal hcl.Traversal, text string) (Target, tfdiags.Diagnostics) {
	module, rest, ok := splitModule(traversal)
	if !ok {
		return Target{}, invalidAddress(text, "a module step must be \"module\" and a name")
	}
	target := Target{Module: module}
	if len(rest) == 0 {
		return target, nil
	}
	resource, rest, ok := splitResource(rest)
	if !ok {
		return Target{}, invalidAddress(text, "a resource needs a type and a name")
	}
	target.Resource = resource
	if len(rest) == 1 {
		index, ok := rest[0].(hcl.TraverseIndex)
		if !ok {
			return Target{}, invalidAddress(text, "only an instance key in brackets may follow the resource name")
		}
		if target.Key, ok = ParseInstanceKey(index.Key); !ok {
			return Target{}, invalidAddress(text, "an instance key is a whole number or quoted text")
		}
		target.HasKey = true
		rest = nil
	}
	if len(rest) > 0 {
		return Target{}, invalidAddress(text, "only an instance key in brackets may follow the resource name")
	}
	return target, nil
}

// ParseResourceInstance reads the address of one resource instance.
func ParseResourceInstance(text string) (ResourceInstance, tfdiags.Diagnostics) {
	target, diags := ParseTarget(text)
	if diags.HasErrors() {
		return ResourceInstance{}, diags
	}
	if target.Resource == (Resource{}) {
		return ResourceInstance{}, invalidAddress(text, "a resource type and name are required")
	}
	return ResourceInstance{Module: target.Module, Resource: target.Resource, Key: target.Key}, nil
}

// ParseModuleInstance reads the path of a module instance; "" is the root.
func ParseModuleInstance(text string) (ModuleInstance, tfdiags.Diagnostics) {
	if text == "" {
		return nil, nil
	}
	target, diags := ParseTarget(text)
	if diags.HasErrors() {
		return nil, diags
	}
	if target.Resource != (Resource{}) {
		return nil, invalidAddress(text, "the path of a module holds no resource")
	}
	return target.Module, nil
}

// ParseConfigResource reads the address of a resource without instance keys, as state files list dependencies.
func ParseConfigResource(text string) (ConfigResource, tfdiags.Diagnostics) {
	addr, diags := ParseResourceInstance(text)
	if diags.HasErrors() {
		return ConfigResource{}, diags
	}
	return addr.Config(), nil
}

func invalidAddress(text, why string) tfdiags.Diagnostics {
	return tfdiags.New(tfdiags.Error, "Invalid address",
		fmt.Sprintf("%q is not a valid address: %s. Examples: aws_instance.web, aws_instance.web[0], module.net[\"eu\"].aws_subnet.a.", text, why))
}

// splitModule takes the leading module steps off a traversal.
func splitModule(traversal hcl.Traversal) (ModuleInstance, hcl.Traversal, bool) {
	var module ModuleInstance
	rest := traversal
	for len(rest) > 0 {
		if root, ok := stepName(rest, 0); !ok || root != "module" {
			break
		}
		name, ok := stepName(rest, 1)
		if !ok {
			return nil, nil, false
		}
		step := ModuleStep{Name: name}
		rest = rest[2:]
		if len(rest) > 0 {
			if index, ok := rest[0].(hcl.TraverseIndex); ok {
				if step.Key, ok = ParseInstanceKey(index.Key); !ok {
					return nil, nil, false
				}
				rest = rest[1:]
			}
		}
		module = append(module, step)
	}
	return module, rest, true
}

// splitResource takes a resource off the front of a traversal.
func splitResource(traversal hcl.Traversal) (Resource, hcl.Traversal, bool) {
	mode := Managed
	rest := traversal
	switch root, _ := stepName(rest, 0); root {
	case "data":
		mode, rest = Data, rest[1:]
	case "ephemeral":
		mode, rest = Ephemeral, rest[1:]
	}
	typeName, okType := stepName(rest, 0)
	name, okName := stepName(rest, 1)
	if !okType || !okName {
		return Resource{}, nil, false
	}
	return Resource{Mode: mode, Type: typeName, Name: name}, rest[2:], true
}

// stepName returns the name of step i if that step is a name.
func stepName(traversal hcl.Traversal, i int) (string, bool) {
	if i >= len(traversal) {
		return "", false
	}
	switch step := traversal[i].(type) {
	case hcl.TraverseRoot:
		return step.Name, true
	case hcl.TraverseAttr:
		return step.Name, true
	default:
		return "", false
	}
}

package addrs

import (
	"cmp"
	"strings"
)

// ResourceMode tells managed resources from data sources.
type ResourceMode uint8

// The resource modes.
const (
	Managed ResourceMode = iota
	Data
	Ephemeral
)

// Resource is a resource inside one module. It is comparable.
type Resource struct {
	Mode ResourceMode
	Type string
	Name string
}

// String returns the address inside its module, such as "data.aws_ami.this".
func (r Resource) String() string {
	switch r.Mode {
	case Data:
		return "data." + r.Type + "." + r.Name
	case Ephemeral:
		return "ephemeral." + r.Type + "." + r.Name
	default:
		return r.Type + "." + r.Name
	}
}

// Compare orders resources as Terraform lists them: data before managed, then type, then name.
func (r Resource) Compare(other Resource) int {
	if r.Mode != other.Mode {
		return -cmp.Compare(r.Mode, other.Mode)
	}
	if c := strings.Compare(r.Type, other.Type); c != 0 {
		return c
	}
	return strings.Compare(r.Name, other.Name)
}

// ImpliedProvider returns the local provider name that the resource type begins with.
func (r Resource) ImpliedProvider() string {
	name, _, _ := strings.Cut(r.Type, "_")
	return name
}

// ConfigResource is a resource in the configuration, whatever the instances of its module.
type ConfigResource struct {
	Module   Module
	Resource Resource
}

// String returns the address without any instance keys.
func (r ConfigResource) String() string {
	if len(r.Module) == 0 {
		return r.Resource.String()
	}
	return r.Module.String() + "." + r.Resource.String()
}

// ResourceInstance is the absolute address of one resource instance.
type ResourceInstance struct {
	Module   ModuleInstance
	Resource Resource
	Key      InstanceKey
}

// String returns the address as Terraform writes it.
func (r ResourceInstance) String() string {
	if len(r.Module) == 0 {
		return r.Resource.String() + r.Key.String()
	}
	return r.Module.String() + "." + r.Resource.String() + r.Key.String()
}

// Config returns the address of the resource in the configuration.
func (r ResourceInstance) Config() ConfigResource {
	return ConfigResource{Module: r.Module.Module(), Resource: r.Resource}
}

// Equal tells whether two addresses are the same.
func (r ResourceInstance) Equal(other ResourceInstance) bool {
	return r.Resource == other.Resource && r.Key == other.Key && r.Module.Equal(other.Module)
}

// Compare orders addresses by module, resource and key.
func (r ResourceInstance) Compare(other ResourceInstance) int {
	if c := r.Module.Compare(other.Module); c != 0 {
		return c
	}
	if c := r.Resource.Compare(other.Resource); c != 0 {
		return c
	}
	return r.Key.Compare(other.Key)
}

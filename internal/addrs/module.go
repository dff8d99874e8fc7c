package addrs

import (
	"slices"
	"strings"
)

// Module is the path of a module in the configuration, by call names; the root is empty.
type Module []string

// String returns the path as "module.a.module.b", or "" for the root.
func (m Module) String() string {
	var b strings.Builder
	for i, name := range m {
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString("module.")
		b.WriteString(name)
	}
	return b.String()
}

// Child returns the path of a module called by this one.
func (m Module) Child(name string) Module {
	return append(slices.Clip(slices.Clone(m)), name)
}

// Equal tells whether two paths are the same.
func (m Module) Equal(other Module) bool { return slices.Equal(m, other) }

// ModuleStep is one step of a module instance's path.
type ModuleStep struct {
	Name string
	Key  InstanceKey
}

// ModuleInstance is the path of one module instance; the root is empty.
type ModuleInstance []ModuleStep

// String returns the path as `module.a[0].module.b`, or "" for the root.
func (m ModuleInstance) String() string {
	if len(m) == 0 {
		return ""
	}
	var b strings.Builder
	for i, step := range m {
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString("module.")
		b.WriteString(step.Name)
		b.WriteString(step.Key.String())
	}
	return b.String()
}

// Child returns the path of an instance of a module called by this one.
func (m ModuleInstance) Child(name string, key InstanceKey) ModuleInstance {
	return append(slices.Clip(slices.Clone(m)), ModuleStep{Name: name, Key: key})
}

// Module returns the path without instance keys.
func (m ModuleInstance) Module() Module {
	if len(m) == 0 {
		return nil
	}
	out := make(Module, len(m))
	for i, step := range m {
		out[i] = step.Name
	}
	return out
}

// Equal tells whether two paths are the same.
func (m ModuleInstance) Equal(other ModuleInstance) bool { return slices.Equal(m, other) }

// Contains tells whether other is this module instance or below it.
func (m ModuleInstance) Contains(other ModuleInstance) bool {
	return len(other) >= len(m) && slices.Equal(m, other[:len(m)])
}

// Compare orders paths step by step, shorter ones first.
func (m ModuleInstance) Compare(other ModuleInstance) int {
	return slices.CompareFunc(m, other, func(a, b ModuleStep) int {
		if c := strings.Compare(a.Name, b.Name); c != 0 {
			return c
		}
		return a.Key.Compare(b.Key)
	})
}

package providers

import (
	"maps"
	"slices"
	"sync"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// Schema is all that a provider says about itself.
type Schema struct {
	Provider      *Block
	ProviderMeta  *Block // nil if the provider has none
	ResourceTypes SchemaSet
	DataSources   SchemaSet
	Ephemerals    SchemaSet
	// Lists are the list resources: each lists objects of the resource type of its name.
	// The schema is that of its configuration.
	Lists        SchemaSet
	Functions    map[string]*FunctionSchema
	Capabilities Capabilities
}

// SchemaSet looks up schemas by type name. A large provider has 1,500 types of
// which a configuration uses a few, so implementations may decode on first use.
type SchemaSet interface {
	// Get returns nil if the provider has no such type. The result is shared.
	Get(typeName string) *ResourceSchema
	// Names lists all types, sorted.
	Names() []string
}

// SchemaMap is a SchemaSet of schemas that are at hand.
type SchemaMap map[string]*ResourceSchema

// Get implements SchemaSet.
func (m SchemaMap) Get(typeName string) *ResourceSchema { return m[typeName] }

// Names implements SchemaSet.
func (m SchemaMap) Names() []string { return slices.Sorted(maps.Keys(m)) }

// Capabilities are what a provider announces beyond the base protocol.
type Capabilities struct {
	// PlanDestroy: the provider wants PlanResourceChange for a destroy as well.
	PlanDestroy bool
	// SchemaOptional: a process need not be asked for its schema before other calls.
	SchemaOptional bool
	// MoveResourceState: objects can be moved in from another type or provider.
	MoveResourceState bool
}

// ResourceSchema is the schema of a resource type, a data source, an ephemeral resource or a list resource.
type ResourceSchema struct {
	// Version is the state schema version; 0 for data sources.
	Version int64
	Block   *Block
	// Invalid says why a provider's schema of this type cannot be used; Block is
	// then empty. Schemas are decoded on first use, so only the types that a
	// configuration uses can fail it.
	Invalid error
}

// FunctionSchema is a provider-defined function.
type FunctionSchema struct {
	Parameters        []function.Parameter
	VariadicParameter *function.Parameter
	Return            cty.Type
	Summary           string
	Description       string
	DeprecationMsg    string
}

// Block is the schema of a configuration block. It is immutable once built.
type Block struct {
	Attributes  map[string]*Attribute
	BlockTypes  map[string]*NestedBlock
	Description string
	// Markdown tells that Description is written in it.
	Markdown   bool
	Deprecated bool

	once    sync.Once
	implied cty.Type

	// derived holds what is computed from the schema on first use.
	derived derivedBlock
}

// Attribute is the schema of one attribute: exactly one of Type and NestedType is set.
type Attribute struct {
	Type       cty.Type
	NestedType *Object

	Required, Optional, Computed bool
	Sensitive, WriteOnly         bool
	Deprecated                   bool
	Description                  string
	// Markdown tells that Description is written in it.
	Markdown bool
}

// Object is the schema of an attribute whose value is made of nested attributes (protocol 6).
type Object struct {
	Attributes map[string]*Attribute
	Nesting    NestingMode
}

// NestedBlock is the schema of a block inside a block.
type NestedBlock struct {
	Block
	Nesting            NestingMode
	MinItems, MaxItems int
}

// NestingMode says how nested blocks or nested attributes form a value.
type NestingMode int

const (
	NestingInvalid NestingMode = iota
	// NestingSingle: at most one; null when absent.
	NestingSingle
	// NestingGroup: exactly one, made up when absent; blocks only.
	NestingGroup
	NestingList
	NestingSet
	NestingMap
)

// ImpliedType returns the object type of values that conform to the block. It
// is computed once. List and map blocks that hold attributes of dynamic type
// become tuples and objects, so their part of the type is dynamic.
func (b *Block) ImpliedType() cty.Type {
	b.once.Do(func() {
		atys := make(map[string]cty.Type, len(b.Attributes)+len(b.BlockTypes))
		for name, attr := range b.Attributes {
			atys[name] = attr.ImpliedType()
		}
		for name, nested := range b.BlockTypes {
			atys[name] = nested.impliedType()
		}
		b.implied = cty.Object(atys)
	})
	return b.implied
}

func (n *NestedBlock) impliedType() cty.Type {
	ety := n.Block.ImpliedType()
	switch n.Nesting {
	case NestingList:
		if ety.HasDynamicTypes() {
			return cty.DynamicPseudoType
		}
		return cty.List(ety)
	case NestingSet:
		return cty.Set(ety)
	case NestingMap:
		if ety.HasDynamicTypes() {
			return cty.DynamicPseudoType
		}
		return cty.Map(ety)
	default:
		return ety
	}
}

// ImpliedType returns the type of the attribute's values.
func (a *Attribute) ImpliedType() cty.Type {
	if a.NestedType == nil {
		return a.Type
	}
	return a.NestedType.ImpliedType()
}

// ImpliedType returns the type of the nested attributes' value, collection
// included. Unlike blocks, a list or map stays one even when an attribute in it
// has the dynamic type: all elements must then agree on a type, as Terraform
// demands of them.
func (o *Object) ImpliedType() cty.Type {
	return o.Nesting.collectionOf(o.ElementType())
}

// ElementType returns the object type of one element.
func (o *Object) ElementType() cty.Type {
	atys := make(map[string]cty.Type, len(o.Attributes))
	for name, attr := range o.Attributes {
		atys[name] = attr.ImpliedType()
	}
	return cty.Object(atys)
}

// EmptyValue returns the value of a block in which nothing is set: null
// attributes, empty collections of blocks, null single blocks, empty groups.
func (b *Block) EmptyValue() cty.Value {
	vals := make(map[string]cty.Value, len(b.Attributes)+len(b.BlockTypes))
	for name, attr := range b.Attributes {
		vals[name] = cty.NullVal(attr.ImpliedType())
	}
	for name, nested := range b.BlockTypes {
		vals[name] = nested.EmptyValue()
	}
	return cty.ObjectVal(vals)
}

// EmptyValue returns the value of a nested block type of which no block is present.
func (n *NestedBlock) EmptyValue() cty.Value {
	ety := n.Block.ImpliedType()
	switch n.Nesting {
	case NestingGroup:
		return n.Block.EmptyValue()
	case NestingList:
		if ety.HasDynamicTypes() {
			return cty.EmptyTupleVal
		}
		return cty.ListValEmpty(ety)
	case NestingSet:
		return cty.SetValEmpty(ety)
	case NestingMap:
		if ety.HasDynamicTypes() {
			return cty.EmptyObjectVal
		}
		return cty.MapValEmpty(ety)
	default:
		return cty.NullVal(ety)
	}
}

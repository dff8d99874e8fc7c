package providers

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/zclconf/go-cty/cty"
)

var blockName = regexp.MustCompile(`^[a-z0-9_]+$`)

// InternalValidate tells what is wrong with a schema that came from a provider,
// nil if nothing is. Other methods may fail in any way on a schema that it refuses.
func (b *Block) InternalValidate() error { return b.validate("") }

func (b *Block) validate(prefix string) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(b.Attributes)) {
		errs = append(errs, b.Attributes[name].validate(prefix+name))
	}
	for _, name := range slices.Sorted(maps.Keys(b.BlockTypes)) {
		nested := b.BlockTypes[name]
		switch {
		case nested == nil:
			errs = append(errs, fmt.Errorf("%s%s: block schema is missing", prefix, name))
			continue
		case b.Attributes[name] != nil:
			errs = append(errs, fmt.Errorf("%s%s: is declared both as attribute and as block type", prefix, name))
		case !blockName.MatchString(name):
			errs = append(errs, fmt.Errorf("%s%s: a block's name may hold only lower-case letters, digits and underscores", prefix, name))
		}
		errs = append(errs, nested.validateNesting(prefix+name), nested.Block.validate(prefix+name+"."))
	}
	return errors.Join(errs...)
}

func (n *NestedBlock) validateNesting(name string) error {
	if n.MinItems < 0 || n.MaxItems < 0 {
		return fmt.Errorf("%s: MinItems and MaxItems must not be negative", name)
	}
	switch n.Nesting {
	case NestingSingle:
		if n.MinItems > 1 || n.MinItems != n.MaxItems {
			return fmt.Errorf("%s: MinItems and MaxItems of a single block must both be 0 or both be 1", name)
		}
	case NestingGroup, NestingMap:
		if n.MinItems != 0 || n.MaxItems != 0 {
			return fmt.Errorf("%s: MinItems and MaxItems must be 0 for groups and maps of blocks", name)
		}
	case NestingList, NestingSet:
		if n.MaxItems != 0 && n.MinItems > n.MaxItems {
			return fmt.Errorf("%s: MinItems must not be greater than MaxItems", name)
		}
		if n.Nesting == NestingSet && !validTypes(&n.Block) {
			return nil // reported with the attribute concerned
		}
		if n.Nesting == NestingSet && n.Block.ImpliedType().HasDynamicTypes() {
			return fmt.Errorf("%s: blocks in a set may not hold attributes of dynamic type", name)
		}
		if n.Nesting == NestingSet && n.Block.holds(writeOnly) {
			return fmt.Errorf("%s: blocks in a set may not hold write-only attributes: its elements are told apart by their values", name)
		}
	default:
		return fmt.Errorf("%s: unknown nesting mode %d", name, n.Nesting)
	}
	return nil
}

func (a *Attribute) validate(name string) error {
	if a == nil {
		return fmt.Errorf("%s: attribute schema is missing", name)
	}
	var errs []error
	switch {
	case !a.Optional && !a.Required && !a.Computed:
		errs = append(errs, fmt.Errorf("%s: must be optional, required or computed", name))
	case a.Required && (a.Optional || a.Computed):
		errs = append(errs, fmt.Errorf("%s: cannot be required and also optional or computed", name))
	}
	switch {
	case a.NestedType == nil && a.Type == cty.NilType:
		errs = append(errs, fmt.Errorf("%s: has no type", name))
	case a.NestedType != nil && a.Type != cty.NilType:
		errs = append(errs, fmt.Errorf("%s: has both a type and nested attributes", name))
	case a.NestedType != nil:
		errs = append(errs, a.NestedType.validate(name))
	}
	return errors.Join(errs...)
}

func (o *Object) validate(name string) error {
	var errs []error
	for _, attrName := range slices.Sorted(maps.Keys(o.Attributes)) {
		errs = append(errs, o.Attributes[attrName].validate(name+"."+attrName))
	}
	switch o.Nesting {
	case NestingSingle, NestingList, NestingMap:
	case NestingSet:
		if errors.Join(errs...) == nil && o.ElementType().HasDynamicTypes() {
			errs = append(errs, fmt.Errorf("%s: a set may not hold nested attributes of dynamic type", name))
		}
		if block := (&Block{Attributes: o.Attributes}); errors.Join(errs...) == nil && block.holds(writeOnly) {
			errs = append(errs, fmt.Errorf("%s: a set may not hold write-only attributes: its elements are told apart by their values", name))
		}
	default:
		errs = append(errs, fmt.Errorf("%s: unknown nesting mode %d", name, o.Nesting))
	}
	return errors.Join(errs...)
}

func writeOnly(a *Attribute) bool { return a.WriteOnly }

// holds tells whether any attribute of a block whose types are valid has a property.
func (b *Block) holds(property func(*Attribute) bool) bool {
	for _, attr := range b.Attributes {
		if attr.any(property) {
			return true
		}
	}
	for _, nested := range b.BlockTypes {
		if nested.Block.holds(property) {
			return true
		}
	}
	return false
}

// validTypes tells whether implied types can be computed without a failure.
func validTypes(b *Block) bool {
	for _, attr := range b.Attributes {
		if attr == nil || attr.validate("") != nil {
			return false
		}
	}
	for _, nested := range b.BlockTypes {
		if nested == nil || !validTypes(&nested.Block) {
			return false
		}
	}
	return true
}

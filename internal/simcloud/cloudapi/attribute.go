package cloudapi

// Shape is the type of an attribute.
type Shape int

// The shapes. Nested shapes have fields.
const (
	String Shape = iota
	Int
	Float
	Bool
	StringMap
	StringList
	StringSet
	IntSet
	NestedList
	NestedSet
	NestedOne
)

// Presence says who gives an attribute its value.
type Presence int

const (
	// Optional attributes are absent until a client sets them, and absent again when it no longer does.
	Optional Presence = iota
	// Required attributes must be set.
	Required
	// Defaulted attributes have a fixed default.
	Defaulted
	// Adopted attributes are chosen by the cloud, and kept, while no client sets them.
	Adopted
	// Computed attributes are the cloud's alone.
	Computed
)

// Attribute describes one attribute of a kind, or one field of a nested attribute.
type Attribute struct {
	Name        string
	Description string
	Shape       Shape
	Presence    Presence
	// Default is the value of a Defaulted attribute: string, int64, float64 or bool.
	Default any
	// Replaces: a change of the attribute needs a new object.
	Replaces bool
	// Stable: a Computed attribute does not change while the object lives.
	Stable    bool
	Sensitive bool
	// Block: Terraform writes the nested attribute as blocks. Block lists and sets are never absent.
	Block bool
	// Fields are those of a nested shape.
	Fields []Attribute
	// OneOf, Min, Max and Check restrict the value. Max 0 means no bound.
	OneOf    []string
	Min, Max int64
	Check    func(text string) string
}

// Nested tells whether the attribute has fields.
func (a *Attribute) Nested() bool {
	return a.Shape == NestedList || a.Shape == NestedSet || a.Shape == NestedOne
}

// Kind describes one kind of object.
type Kind struct {
	Name        string
	Description string
	Attributes  []Attribute
}

// Attribute returns the named attribute, or nil.
func (k *Kind) Attribute(name string) *Attribute {
	for i := range k.Attributes {
		if k.Attributes[i].Name == name {
			return &k.Attributes[i]
		}
	}
	return nil
}

// KindNamed finds a kind.
func KindNamed(name string) (*Kind, bool) {
	for i := range Kinds {
		if Kinds[i].Name == name {
			return &Kinds[i], true
		}
	}
	return nil, false
}

// KindNames lists the names of all kinds in their fixed order.
func KindNames() []string {
	names := make([]string, len(Kinds))
	for i := range Kinds {
		names[i] = Kinds[i].Name
	}
	return names
}

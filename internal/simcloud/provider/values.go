package provider

import (
	"encoding/json"
	"fmt"
	"math/big"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/towline/terraform-provider-towline/internal/simcloud/cloudapi"
)

// numberPrecision is that of Terraform's own numbers, so that what is read equals what was written.
const numberPrecision = 512

// writable returns what a plan asks the cloud for: every known attribute of the kind that a client may set.
func writable(kind *cloudapi.Kind, plan tftypes.Value) (map[string]any, error) {
	var values map[string]tftypes.Value
	if err := plan.As(&values); err != nil {
		return nil, fmt.Errorf("reading the plan: %w", err)
	}
	out := make(map[string]any)
	for _, attribute := range kind.Attributes {
		if attribute.Presence == cloudapi.Computed {
			continue
		}
		value, err := toJSON(values[attribute.Name])
		if err != nil {
			return nil, fmt.Errorf("attribute %s: %w", attribute.Name, err)
		}
		if value != nil {
			out[attribute.Name] = value
		}
	}
	return out, nil
}

// toJSON converts a value; null and unknown become nil, so that the cloud chooses.
func toJSON(value tftypes.Value) (any, error) {
	if value.IsNull() || !value.IsKnown() {
		return nil, nil
	}
	switch value.Type().(type) {
	case tftypes.Object, tftypes.Map:
		return objectToJSON(value)
	case tftypes.List, tftypes.Set:
		return listToJSON(value)
	}
	switch {
	case value.Type().Is(tftypes.String):
		return as[string](value)
	case value.Type().Is(tftypes.Bool):
		return as[bool](value)
	case value.Type().Is(tftypes.Number):
		number, err := as[big.Float](value)
		return json.Number(number.Text('g', -1)), err
	}
	return nil, fmt.Errorf("type %s has no place in the cloud", value.Type())
}

func as[T any](value tftypes.Value) (T, error) {
	var out T
	err := value.As(&out)
	return out, err
}

func objectToJSON(value tftypes.Value) (any, error) {
	values, err := as[map[string]tftypes.Value](value)
	if err != nil {
		return nil, err
	}
	out := make(map[string]any, len(values))
	for name, item := range values {
		converted, err := toJSON(item)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if converted != nil {
			out[name] = converted
		}
	}
	return out, nil
}

func listToJSON(value tftypes.Value) (any, error) {
	values, err := as[[]tftypes.Value](value)
	if err != nil {
		return nil, err
	}
	out := make([]any, 0, len(values))
	for i, item := range values {
		converted, err := toJSON(item)
		if err != nil {
			return nil, fmt.Errorf("%d: %w", i, err)
		}
		out = append(out, converted)
	}
	return out, nil
}

// stateOf returns the object as a value of the resource's type.
func stateOf(object *cloudapi.Object, typ tftypes.Type) (tftypes.Value, error) {
	flat := map[string]any{
		"id": object.ID, "environment": object.Environment, "service": object.Service, "name": object.Name,
		"revision":   json.Number(fmt.Sprint(object.Revision)),
		"created_at": object.Created.Format(time.RFC3339Nano),
		"updated_at": object.Updated.Format(time.RFC3339Nano),
	}
	for name, value := range object.Attributes {
		flat[name] = value
	}
	for name, value := range object.Status {
		flat[name] = value
	}
	return fromJSON(flat, typ)
}

// fromJSON converts what the cloud sent to a value of the type; what is absent becomes null.
func fromJSON(value any, typ tftypes.Type) (tftypes.Value, error) {
	if value == nil {
		return tftypes.NewValue(typ, nil), nil
	}
	switch typ := typ.(type) {
	case tftypes.Object:
		return objectFromJSON(value, typ)
	case tftypes.Map:
		return mapFromJSON(value, typ)
	case tftypes.List:
		return listFromJSON(value, typ, typ.ElementType)
	case tftypes.Set:
		return listFromJSON(value, typ, typ.ElementType)
	}
	if number, ok := value.(json.Number); ok {
		parsed, _, err := big.ParseFloat(string(number), 10, numberPrecision, big.ToNearestEven)
		if err != nil {
			return tftypes.Value{}, fmt.Errorf("number %q: %w", number, err)
		}
		value = parsed
	}
	if err := tftypes.ValidateValue(typ, value); err != nil {
		return tftypes.Value{}, fmt.Errorf("the cloud sent another type than expected: %w", err)
	}
	return tftypes.NewValue(typ, value), nil
}

func objectFromJSON(value any, typ tftypes.Object) (tftypes.Value, error) {
	values, ok := value.(map[string]any)
	if !ok {
		return tftypes.Value{}, fmt.Errorf("the cloud sent %T where an object was expected", value)
	}
	out := make(map[string]tftypes.Value, len(typ.AttributeTypes))
	for name, attributeType := range typ.AttributeTypes {
		converted, err := fromJSON(values[name], attributeType)
		if err != nil {
			return tftypes.Value{}, fmt.Errorf("%s: %w", name, err)
		}
		out[name] = converted
	}
	return tftypes.NewValue(typ, out), nil
}

func mapFromJSON(value any, typ tftypes.Map) (tftypes.Value, error) {
	values, ok := value.(map[string]any)
	if !ok {
		return tftypes.Value{}, fmt.Errorf("the cloud sent %T where a map was expected", value)
	}
	out := make(map[string]tftypes.Value, len(values))
	for name, item := range values {
		converted, err := fromJSON(item, typ.ElementType)
		if err != nil {
			return tftypes.Value{}, fmt.Errorf("%s: %w", name, err)
		}
		out[name] = converted
	}
	return tftypes.NewValue(typ, out), nil
}

func listFromJSON(value any, typ, elementType tftypes.Type) (tftypes.Value, error) {
	values, ok := value.([]any)
	if !ok {
		return tftypes.Value{}, fmt.Errorf("the cloud sent %T where a list was expected", value)
	}
	out := make([]tftypes.Value, 0, len(values))
	for i, item := range values {
		converted, err := fromJSON(item, elementType)
		if err != nil {
			return tftypes.Value{}, fmt.Errorf("%d: %w", i, err)
		}
		out = append(out, converted)
	}
	return tftypes.NewValue(typ, out), nil
}

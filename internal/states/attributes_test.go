package states

import (
	"testing"

	"github.com/zclconf/go-cty/cty"
)

func TestPresentAttributes(t *testing.T) {
	t.Parallel()
	inner := cty.Object(map[string]cty.Type{"a": cty.String})
	ty := cty.Object(map[string]cty.Type{
		"n": cty.Number, "any": cty.DynamicPseudoType, "o": inner, "l": cty.List(inner), "m": cty.Map(inner), "s": cty.Set(cty.String),
	})
	for name, test := range map[string]struct{ raw, want string }{
		"all known, as recorded": {`{ "n":1e400, "o":null }`, `{ "n":1e400, "o":null }`},
		"digits are kept":        {`{"n":123456789012345678901234567890.5,"x":1}`, `{"n":123456789012345678901234567890.5}`},
		"at the top":             {`{"n":1,"x":{"y":[1]}}`, `{"n":1}`},
		"in an object":           {`{"o":{"a":"1","x":2}}`, `{"o":{"a":"1"}}`},
		"in a list":              {`{"l":[{"a":"1","x":2},null]}`, `{"l":[{"a":"1"},null]}`},
		"in a map":               {`{"m":{"x":{"x":2}}}`, `{"m":{"x":{}}}`},
		"values of any type":     {`{"any":{"type":["object",{"x":"string"}],"value":{"x":"1"}}}`, `{"any":{"type":["object",{"x":"string"}],"value":{"x":"1"}}}`},
		"another form":           {`{"l":{"x":1},"s":{"x":1},"o":[1]}`, `{"l":{"x":1},"s":{"x":1},"o":[1]}`},
		"in all kinds":           {`{"m":{"k":{"gone":1}},"l":[{"a":"x","gone":1},null]}`, `{"l":[{"a":"x"},null],"m":{"k":{}}}`},
		"no object":              {`[1]`, `[1]`},
		"no JSON":                {`{"n":`, `{"n":`},
		"what is no JSON":        {`{"x":1`, `{"x":1`},
		"nothing":                {``, ``},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := string(PresentAttributes([]byte(test.raw), ty)); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

package providers_test

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/providers"
)

func TestStripRemovedAttributes(t *testing.T) {
	t.Parallel()
	ty := cty.Object(map[string]cty.Type{
		"a": cty.Number, "l": cty.List(objA), "m": cty.Map(objA), "d": cty.DynamicPseudoType,
	})
	for name, test := range map[string]struct{ in, want string }{
		"nothing to do":  {`{ "a": 12345678901234567890.5 }`, `{ "a": 12345678901234567890.5 }`},
		"top":            {`{"a":12345678901234567890.5,"gone":{"x":1}}`, `{"a":12345678901234567890.5}`},
		"in lists":       {`{"l":[{"a":"x","gone":1},null]}`, `{"l":[{"a":"x"},null]}`},
		"in maps":        {`{"m":{"k":{"gone":1}}}`, `{"m":{"k":{}}}`},
		"dynamic stays":  {`{"d":{"type":"string","value":"x"}}`, `{"d":{"type":"string","value":"x"}}`},
		"wrong stays":    {`{"l":{"x":1},"a":[{"y":1}]}`, `{"l":{"x":1},"a":[{"y":1}]}`},
		"not an object":  {`[1]`, `[1]`},
		"not JSON":       {`{"a":`, `{"a":`},
		"nothing at all": {``, ``},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := string(providers.StripRemovedAttributes([]byte(test.in), ty)); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

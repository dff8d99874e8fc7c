package control

import "testing"

// Of an object whose provider is not known, a scope may include what one with some provider
// would be in.
func TestMayInclude(t *testing.T) {
	t.Parallel()
	object := Object{Address: "x_y.z", Type: "x_y"}
	for name, test := range map[string]struct {
		scope Scope
		want  bool
	}{
		"all":                    {Scope{Include: []Match{{Address: "**"}}}, true},
		"another address":        {Scope{Include: []Match{{Address: "x_y.w"}}}, false},
		"another type":           {Scope{Include: []Match{{Type: "q_r", Provider: "hashicorp/aws"}}}, false},
		"a provider":             {Scope{Include: []Match{{Provider: "hashicorp/aws"}}}, true},
		"excluded":               {Scope{Include: []Match{{Address: "**"}}, Exclude: []Match{{Type: "x_*"}}}, false},
		"excluded of a provider": {Scope{Include: []Match{{Address: "**"}}, Exclude: []Match{{Type: "x_*", Provider: "hashicorp/aws"}}}, true},
	} {
		if got := test.scope.MayInclude(object); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

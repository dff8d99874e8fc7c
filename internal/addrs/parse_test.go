package addrs_test

import (
	"testing"

	"github.com/towline/terraform-provider-towline/internal/addrs"
)

func TestResourceInstanceRoundTrip(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"aws_instance.web", "aws_instance.web[0]", `aws_instance.web["a"]`, "data.aws_ami.x",
		"module.a.aws_instance.web", `module.a["x.y"].module.b[2].data.aws_ami.x["k"]`,
		`a_b.c["q\"uo\\te"]`, `a_b.c["$${x}"]`, `a_b.c["line\nbreak"]`, "ephemeral.a_b.c",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			addr, diags := addrs.ParseResourceInstance(text)
			if diags.HasErrors() {
				t.Fatal(diags.Err())
			}
			if got := addr.String(); got != text {
				t.Errorf("got %s, want %s", got, text)
			}
		})
	}
}

func TestInvalidAddresses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "a", "module", "module.a", "a.b.c", "a.b[1.5]", "a.b[-1]", "a.b[*]", "a.b[0][1]", "module.a[true].b.c", "data.a"} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			if addr, diags := addrs.ParseResourceInstance(text); !diags.HasErrors() {
				t.Errorf("%q was taken as %s", text, addr)
			}
		})
	}
}

func TestTargetContains(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		target, addr string
		want         bool
	}{
		"whole resource":          {"a.b", "a.b[3]", true},
		"instance":                {"a.b[3]", "a.b[3]", true},
		"other instance":          {"a.b[3]", "a.b[2]", false},
		"module covers below":     {"module.m", "module.m[1].module.n.a.b", true},
		"module instance":         {"module.m[0]", "module.m[1].a.b", false},
		"not a deeper resource":   {"a.b", "module.m.a.b", false},
		"module step without key": {"module.m.a.b", `module.m["x"].a.b[0]`, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target, diags := addrs.ParseTarget(test.target)
			addr, moreDiags := addrs.ParseResourceInstance(test.addr)
			if len(diags)+len(moreDiags) > 0 {
				t.Fatal(diags, moreDiags)
			}
			if got := target.Contains(addr); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestProviderConfigRoundTrip(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`provider["registry.terraform.io/hashicorp/aws"]`,
		`provider["registry.terraform.io/hashicorp/aws"].west`,
		`module.a.module.b.provider["terraform.io/builtin/terraform"]`,
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			addr, diags := addrs.ParseProviderConfig(text)
			if diags.HasErrors() {
				t.Fatal(diags.Err())
			}
			if got := addr.String(); got != text {
				t.Errorf("got %s, want %s", got, text)
			}
		})
	}
	for _, text := range []string{"", "provider", "provider.aws", `provider["a b"]`, `provider["aws"].x.y`, `provider[1]`} {
		if addr, diags := addrs.ParseProviderConfig(text); !diags.HasErrors() {
			t.Errorf("%q was taken as %s", text, addr)
		}
	}
}

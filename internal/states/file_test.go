package states_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/states"
)

// What would be taken for another object than was recorded is refused.
func TestObjectsThatAreRefused(t *testing.T) {
	t.Parallel()
	const file = `{"version":4,"serial":1,"lineage":"l","resources":[{"mode":"managed","type":"a_b","name":"c","provider":"provider[\"registry.terraform.io/x/y\"]","instances":[%s]}]}`
	for name, test := range map[string]struct{ instances, want string }{
		"as terraform writes":   {`{"status":"tainted","attributes":{}},{"deposed":"0a1b2c3d","attributes":{}}`, ""},
		"unknown status":        {`{"status":"broken","attributes":{}}`, `status "broken"`},
		"deposed without a key": {`{"deposed":"old","attributes":{}}`, `deposed key "old"`},
		"a second current one":  {`{"attributes":{}},{"attributes":{}}`, "two current objects"},
		"a key of another type": {`{"index_key":true,"attributes":{}}`, "neither a number nor text"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, diags := states.Decode(fmt.Appendf(nil, file, test.instances))
			if got := fmt.Sprint(diags.Err()); diags.HasErrors() != (test.want != "") || !strings.Contains(got, test.want) {
				t.Errorf("got %s, want %q", got, test.want)
			}
		})
	}
}

// States of other formats are refused, and it is said what becomes of them.
func TestOtherFormats(t *testing.T) {
	t.Parallel()
	for version, want := range map[int]string{
		0: "from before Terraform 0.12", 1: "from before Terraform 0.12", 3: "from before Terraform 0.12", 5: "newer than all",
	} {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			t.Parallel()
			_, diags := states.Decode(fmt.Appendf(nil, `{"version":%d,"modules":[]}`, version))
			if got := fmt.Sprint(diags.Err()); !strings.Contains(got, want) {
				t.Errorf("got %s, want %q", got, want)
			}
		})
	}
}

func BenchmarkFile(b *testing.B) {
	var text strings.Builder
	text.WriteString(`{"version":4,"resources":[`)
	for i := range 1000 {
		if i > 0 {
			text.WriteString(",")
		}
		fmt.Fprintf(&text, `{"mode":"managed","type":"a_b","name":"n%d","provider":"provider[\"registry.terraform.io/x/y\"]","instances":[{"schema_version":0,"attributes":{"id":"%d"},"sensitive_attributes":[],"dependencies":["a_b.n0"]}]}`, i, i)
	}
	text.WriteString("]}")
	data := []byte(text.String())
	b.ReportAllocs()
	for b.Loop() {
		state, diags := states.Decode(data)
		if diags.HasErrors() {
			b.Fatal(diags.Err())
		}
		if err := states.Write(io.Discard, state); err != nil {
			b.Fatal(err)
		}
	}
}

package configs

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// LoadModule reads the module in dir without those that it calls. The sources are
// for diagnostics.
func LoadModule(dir string) (*Module, map[string][]byte, tfdiags.Diagnostics) {
	l := &loader{files: map[string]*hcl.File{}}
	m := newModule(dir)
	diags := l.loadDir(m, dir)
	return m, l.sources(), diags
}

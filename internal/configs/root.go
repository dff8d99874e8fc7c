package configs

import (
	"github.com/hashicorp/hcl/v2/hclparse"

	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// LoadModule reads the module in dir without those that it calls. The sources are
// for diagnostics.
func LoadModule(dir string) (*Module, map[string][]byte, tfdiags.Diagnostics) {
	l := &loader{parser: hclparse.NewParser()}
	m := newModule(dir)
	diags := l.loadDir(m, dir)
	return m, l.sources(), diags
}

// sources are the files read so far.
func (l *loader) sources() map[string][]byte {
	out := map[string][]byte{}
	for name, file := range l.parser.Files() {
		out[name] = file.Bytes
	}
	return out
}

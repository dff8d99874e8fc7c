package provisioners

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// Provisioner is one type of provisioner. It is safe for concurrent use.
type Provisioner interface {
	// Schema describes the arguments.
	Schema() *providers.Block
	// Validate refuses arguments that can never work. Unknown values are possible.
	Validate(config cty.Value) tfdiags.Diagnostics
	// Run does the work. It ends soon after ctx does.
	Run(ctx context.Context, req Request) tfdiags.Diagnostics
}

// Request is one run of a provisioner.
type Request struct {
	// Config are the arguments, wholly known and without marks.
	Config cty.Value
	// Connection is an object of [ConnectionSchema], or null.
	Connection cty.Value
	// Output is told what is done and what programs print, line by line. It may be
	// called from several goroutines, but not after Run has returned.
	Output func(line string)
}

// Builtin returns the types that the language has, by name. Relative paths start
// from the working directory of the process.
func Builtin() map[string]Provisioner {
	return map[string]Provisioner{"local-exec": localExec{}, "remote-exec": remoteExec{}, "file": file{}}
}

// optional builds the schema of a block whose arguments are all optional but the
// named ones.
func optional(attrs map[string]cty.Type, required ...string) *providers.Block {
	block := &providers.Block{Attributes: map[string]*providers.Attribute{}}
	for name, ty := range attrs {
		block.Attributes[name] = &providers.Attribute{Type: ty, Optional: true}
	}
	for _, name := range required {
		block.Attributes[name].Optional, block.Attributes[name].Required = false, true
	}
	return block
}

// text returns a string argument, or "" if it is null.
func text(object cty.Value, name string) string {
	if v := object.GetAttr(name); !v.IsNull() {
		return v.AsString()
	}
	return ""
}

// texts returns a list of strings, without null elements.
func texts(object cty.Value, name string) []string {
	list := object.GetAttr(name)
	if list.IsNull() {
		return nil
	}
	var out []string
	for _, v := range list.AsValueSlice() {
		if !v.IsNull() {
			out = append(out, v.AsString())
		}
	}
	return out
}

// truth returns a boolean argument, or false if it is null.
func truth(object cty.Value, name string) bool {
	v := object.GetAttr(name)
	return !v.IsNull() && v.True()
}

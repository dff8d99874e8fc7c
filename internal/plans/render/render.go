package render

import (
	"io"
	"strings"

	"github.com/mitchellh/go-wordwrap"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/states"
)

// Schemas finds the schema of a resource type, or nil if there is none; an
// object without a schema is printed by its values alone.
type Schemas func(provider addrs.Provider, mode addrs.ResourceMode, typeName string) *providers.ResourceSchema

// SchemasOf looks schemas up among those of whole providers, as the engine returns them.
func SchemasOf(all map[addrs.Provider]*providers.Schema) Schemas {
	return func(provider addrs.Provider, mode addrs.ResourceMode, typeName string) *providers.ResourceSchema {
		schema := all[provider]
		if schema == nil {
			return nil
		}
		if mode == addrs.Data {
			return schema.DataSources.Get(typeName)
		}
		return schema.ResourceTypes.Get(typeName)
	}
}

// block returns the schema's block, or nil.
func (s Schemas) block(provider addrs.Provider, addr addrs.Resource) *providers.Block {
	if s == nil {
		return nil
	}
	schema := s(provider, addr.Mode, addr.Type)
	if schema == nil || schema.Invalid != nil {
		return nil
	}
	return schema.Block
}

// Options say how to print.
type Options struct {
	// Color allows ANSI colours.
	Color bool
	// Width is the number of columns to wrap sentences at; 0 means [DefaultWidth].
	Width int
}

// DefaultWidth is the width where there is no terminal, as in Terraform.
const DefaultWidth = 78

// Plan prints a plan: drift that matters, the planned changes, their number and
// the changes of outputs. It prints that there are none if so.
func Plan(w io.Writer, plan *plans.Plan, schemas Schemas, opts Options) error {
	p := newPrinter(opts)
	p.plan(plan, schemas)
	_, err := io.WriteString(w, p.out.String())
	return err
}

// State prints the objects and outputs that a state records. Objects that cannot
// be decoded under the schemas at hand are an error.
func State(w io.Writer, state *states.State, schemas Schemas, opts Options) error {
	p := newPrinter(opts)
	if err := p.state(state, schemas); err != nil {
		return err
	}
	_, err := io.WriteString(w, p.out.String())
	return err
}

// Outputs prints output values as "NAME = VALUE", sensitive ones hidden.
func Outputs(w io.Writer, outputs map[string]*states.Output, opts Options) error {
	p := newPrinter(opts)
	p.outputs(outputs)
	_, err := io.WriteString(w, p.out.String())
	return err
}

// Value prints one value as an expression that would give it.
func Value(w io.Writer, v cty.Value) error {
	_, err := io.WriteString(w, expressionText(v, 0)+"\n")
	return err
}

// printer collects what is printed.
type printer struct {
	out   strings.Builder
	paint palette
	width int
}

func newPrinter(opts Options) *printer {
	width := opts.Width
	if width == 0 {
		width = DefaultWidth
	}
	return &printer{paint: palette(opts.Color), width: width}
}

// line prints text and a line end.
func (p *printer) line(text string) {
	p.out.WriteString(text)
	p.out.WriteByte('\n')
}

// sentence prints text wrapped at the width, one column left free.
func (p *printer) sentence(text string) {
	p.line(wordwrap.WrapString(text, uint(max(p.width-1, 1))))
}

// palette colours text, or leaves it as it is.
type palette bool

// The colours in use, as ANSI codes.
const (
	bold     = "1"
	red      = "31"
	green    = "32"
	yellow   = "33"
	cyan     = "36"
	darkGray = "90"
)

func (p palette) color(code, text string) string {
	if !p || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

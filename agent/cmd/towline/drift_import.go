package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/states"
)

// wantedImport is an object that nobody manages, and the address that it is to have.
type wantedImport struct {
	addr addrs.Resource
	id   string
}

// adoptUnmanaged adopts objects that nobody manages: a new file with import blocks, and with
// configuration as the provider describes the objects.
func (d *driftAdopter) adoptUnmanaged(ctx context.Context) int {
	wanted, err := parseImports(d.imports)
	if err == nil {
		err = checkNewFile(d.into)
	}
	if err != nil {
		d.app.show(explain(err))
		return exitFailed
	}
	d.in.plans = true
	s, ok := d.app.openSession(ctx, &d.in, "OperationTypePlan")
	if !ok {
		return exitFailed
	}
	defer s.close()
	s.engine.SetHook(engine.NoHook{}) // nothing but the patch goes to stdout
	text, ok := s.generateImports(ctx, d.into, wanted)
	if !ok {
		return exitFailed
	}
	delete(s.config.Sources, d.into) // it is not written yet
	if err := d.finish(s.config, map[string][]byte{d.into: text}, nil); err != nil {
		d.app.show(explain(err))
		return exitFailed
	}
	return exitOK
}

// parseImports reads what -import was given: TYPE.NAME=ID.
func parseImports(given []string) ([]wantedImport, error) {
	var out []wantedImport
	for _, text := range given {
		address, id, _ := strings.Cut(text, "=")
		kind, name, _ := strings.Cut(address, ".")
		if id == "" || !hclsyntax.ValidIdentifier(kind) || !hclsyntax.ValidIdentifier(name) {
			return nil, mistake("Invalid import", fmt.Sprintf("%q does not say what to import. Write TYPE.NAME=ID: the type of the resource, a name of your choice for it, and the ID by which its provider imports it, such as aws_instance.bastion=i-0123456789.", text))
		}
		addr := addrs.Resource{Mode: addrs.Managed, Type: kind, Name: name}
		if slices.ContainsFunc(out, func(w wantedImport) bool { return w.addr == addr }) {
			return nil, mistake("Invalid import", fmt.Sprintf("%s is named twice. Give each object a name of its own.", addr))
		}
		if at := slices.IndexFunc(out, func(w wantedImport) bool { return w.addr.Type == kind && w.id == id }); at >= 0 {
			return nil, mistake("Invalid import", fmt.Sprintf("The object %q is named twice, as %s and as %s. Two addresses for one object would undo each other's changes. Give it one name.", id, out[at].addr, addr))
		}
		out = append(out, wantedImport{addr, id})
	}
	return out, nil
}

// checkNewFile refuses a file that is there already, or that Terraform would not read.
func checkNewFile(name string) error {
	switch _, err := os.Lstat(name); {
	case filepath.Base(name) != name || !strings.HasSuffix(name, ".tf"):
		return mistake("Invalid file name", fmt.Sprintf("%q is no file of this directory's configuration. Name one of this directory that ends in .tf.", name))
	case err == nil:
		return mistake("File exists already", fmt.Sprintf("What is adopted goes to a new file, so that nothing that somebody has written is lost, and %s exists already. Name another file with -into.", name))
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return nil
}

// generateImports returns the text of a file that imports objects and declares them.
func (s *session) generateImports(ctx context.Context, file string, wanted []wantedImport) ([]byte, bool) {
	opts, diags := s.in.planOptions(s.variables)
	if s.tell(diags) {
		return nil, false
	}
	if err := s.checkImportable(wanted); err != nil {
		s.tell(explain(err))
		return nil, false
	}
	if s.load(file, importFile(wanted, nil)) {
		return nil, false
	}
	blocks, diags := s.engine.Generate(ctx, s.config, s.state.State, opts)
	if s.tell(diags) {
		return nil, false
	}
	text := importFile(wanted, blocks)
	return text, !s.load(file, text)
}

// load has the configuration hold a file that is not written, and tells whether that is an error.
func (s *session) load(file string, text []byte) (failed bool) {
	config, diags := configs.LoadWith(".", map[string][]byte{file: text})
	s.config, s.app.sources = config, config.Sources
	return s.tell(diags)
}

// checkImportable refuses addresses that mean something already, and objects that are recorded.
func (s *session) checkImportable(wanted []wantedImport) (err error) {
	for _, w := range wanted {
		if s.config.Module.Resources[w.addr] != nil {
			return mistake("Resource is declared already", fmt.Sprintf("The configuration has a block for %s. Choose another name for the object %q, or import it with \"towline import %s %s\".", w.addr, w.id, w.addr, w.id))
		}
	}
	s.state.State.Each(func(addr addrs.ResourceInstance, _ *states.Resource, inst *states.Instance) {
		for _, w := range wanted {
			if err == nil && addr.Resource.Mode == addrs.Managed && addr.Resource.Type == w.addr.Type && inst.Current != nil && inst.Current.ID() == w.id {
				err = mistake("Object is managed already", fmt.Sprintf("The object %q is recorded as %s. Two addresses for one object would undo each other's changes.", w.id, addr))
			}
		}
	})
	return err
}

// importFile writes an import block for each object, with its configuration if there is one.
func importFile(wanted []wantedImport, blocks []engine.Generated) []byte {
	var b strings.Builder
	for i, w := range wanted {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "import {\n  to = %s\n  id = %s\n}\n", w.addr, hclwrite.TokensForValue(cty.StringVal(w.id)).Bytes())
		for _, block := range blocks {
			if block.Addr.Resource == w.addr {
				b.WriteString("\n" + block.Text + "\n")
			}
		}
	}
	return []byte(b.String())
}

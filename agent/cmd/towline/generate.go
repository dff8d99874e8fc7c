package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// generate writes resource blocks for the import blocks that have none to a new
// file, and goes on with the configuration as it is with them.
func (s *session) generate(ctx context.Context, path string) bool {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return !s.app.show(tfdiags.New(tfdiags.Error, "Target generated file already exists",
			fmt.Sprintf("Generated configuration goes to a new file, so that nothing that somebody has written is lost, and %s exists already. Name another file, or remove that one.", path)))
	}
	opts, diags := s.in.planOptions(s.variables)
	if s.tell(diags) {
		return false
	}
	blocks, diags := s.engine.Generate(ctx, s.config, s.state.State, opts)
	if len(blocks) == 0 {
		return !s.tell(diags)
	}
	text := generatedFile(blocks)
	config, moreDiags := configs.LoadWith(".", map[string][]byte{path: text})
	s.config, s.app.sources = config, config.Sources
	s.generated = map[string]string{}
	for _, b := range blocks {
		s.generated[b.Addr.String()] = b.Text
	}
	diags = append(diags, moreDiags...)
	diags = append(diags, tfdiags.FromError("Failed to write generated configuration", writeNew(path, text, 0o644))...)
	return !s.tell(append(diags, tfdiags.New(tfdiags.Warning, "Config generation is experimental",
		fmt.Sprintf("The blocks in %s were written from what the provider said. Review them, keep what you mean, and move them to where they belong before you apply.", path))...))
}

// generatedFile is the text of a file of resource blocks.
func generatedFile(blocks []engine.Generated) []byte {
	slices.SortFunc(blocks, func(a, b engine.Generated) int { return strings.Compare(a.Addr.String(), b.Addr.String()) })
	var b strings.Builder
	b.WriteString("# __generated__ by Towline\n# Please review these resources and move them into your main configuration files.\n")
	for _, block := range blocks {
		fmt.Fprintf(&b, "\n# __generated__ by Towline from %q\n%s\n", block.ID, block.Text)
	}
	return []byte(b.String())
}

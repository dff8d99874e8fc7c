package lockfile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/plugin/version"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// Name is the name of lock files in a root module.
const Name = ".terraform.lock.hcl"

// maxSize bounds a lock file: a provider takes about 2 KiB.
const maxSize = 8 << 20

// header is the comment that Terraform begins lock files with.
const header = `# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.
`

// Lock is what is locked of one provider.
type Lock struct {
	Version version.Version
	// Constraints are those that the version was chosen under. They matter to readers only.
	Constraints version.Constraints
	// Hashes are the packages that count as this version, such as "h1:..." of a
	// package's files and "zh:..." of its zip archive. None means that any does.
	Hashes []string
}

// Locks are the providers that a lock file lists.
type Locks map[addrs.Provider]Lock

// Read reads a lock file. A missing file is an empty one.
func Read(path string) (Locks, tfdiags.Diagnostics) {
	file, err := os.Open(path) //nolint:gosec // the caller's own working directory
	if errors.Is(err, fs.ErrNotExist) {
		return Locks{}, nil
	}
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	src, err := io.ReadAll(io.LimitReader(file, maxSize+1))
	if err != nil {
		return nil, unreadable(path, err)
	}
	if len(src) > maxSize {
		return nil, unreadable(path, fmt.Errorf("it is larger than %d bytes", maxSize))
	}
	return Parse(src, path)
}

func unreadable(path string, err error) tfdiags.Diagnostics {
	return tfdiags.New(tfdiags.Error, "Failed to read dependency lock file",
		fmt.Sprintf("The lock file %s cannot be read: %s. Check that it is a file that you may read.", path, err))
}

// hashForm is a scheme and a value that needs no quoting.
var hashForm = regexp.MustCompile(`^[a-z0-9]+:[-A-Za-z0-9+/=_.:]+$`)

var rootSchema = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
	{Type: "provider", LabelNames: []string{"source_addr"}},
	{Type: "module", LabelNames: []string{"path"}},
}}

var lockSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{
	{Name: "version", Required: true}, {Name: "constraints"}, {Name: "hashes"},
}}

// Parse reads the content of a lock file; name is for messages.
func Parse(src []byte, name string) (Locks, tfdiags.Diagnostics) {
	file, hclDiags := hclsyntax.ParseConfig(src, name, hcl.InitialPos)
	if hclDiags.HasErrors() {
		return nil, tfdiags.FromHCL(hclDiags)
	}
	content, hclDiags := file.Body.Content(rootSchema)
	diags := tfdiags.FromHCL(hclDiags)
	locks := Locks{}
	for _, block := range content.Blocks.OfType("provider") {
		addr, lock, moreDiags := parseLock(block)
		diags = append(diags, moreDiags...)
		if moreDiags.HasErrors() {
			continue
		}
		if _, exists := locks[addr]; exists {
			diags = append(diags, tfdiags.At(block.DefRange, "Duplicate provider lock",
				"The lock file has more than one block for this provider. Remove all but one.")...)
			continue
		}
		locks[addr] = lock
	}
	if modules := content.Blocks.OfType("module"); len(modules) > 0 {
		diags = append(diags, tfdiags.At(modules[0].DefRange, "Dependency locks for modules are not yet supported",
			"The lock file has entries for modules, which only a later version of Terraform knows. They are ignored.").Warnings()...)
	}
	if diags.HasErrors() {
		return nil, diags
	}
	return locks, diags
}

func parseLock(block *hcl.Block) (addrs.Provider, Lock, tfdiags.Diagnostics) {
	addr, err := addrs.ParseProviderSource(block.Labels[0])
	if err != nil || addr.String() != block.Labels[0] || addr.IsBuiltIn() || addr.IsLegacy() {
		return addr, Lock{}, tfdiags.At(block.LabelRanges[0], "Invalid provider source address",
			`A lock must name its provider by the full address in the form "hostname/namespace/type", and built-in providers cannot be locked.`)
	}
	content, hclDiags := block.Body.Content(lockSchema)
	diags := tfdiags.FromHCL(hclDiags)
	if diags.HasErrors() {
		return addr, Lock{}, diags
	}
	var lock Lock
	text, moreDiags := stringOf(content.Attributes["version"])
	diags = append(diags, moreDiags...)
	if lock.Version, err = version.Parse(text); !moreDiags.HasErrors() && (err != nil || lock.Version.String() != text) {
		diags = append(diags, tfdiags.At(content.Attributes["version"].Expr.Range(), "Invalid provider version number",
			"The locked version must be a version number in full, such as 1.2.0.")...)
	}
	if attr := content.Attributes["constraints"]; attr != nil {
		text, moreDiags := stringOf(attr)
		diags = append(diags, moreDiags...)
		if lock.Constraints, err = version.ParseConstraints(text); err != nil {
			diags = append(diags, tfdiags.At(attr.Expr.Range(), "Invalid provider version constraints",
				fmt.Sprintf("The recorded constraints cannot be read: %s.", err))...)
		}
	}
	hashes, moreDiags := parseHashes(content.Attributes["hashes"])
	lock.Hashes = hashes
	return addr, lock, append(diags, moreDiags...)
}

// stringOf returns the value of an attribute that must be a literal string.
func stringOf(attr *hcl.Attribute) (string, tfdiags.Diagnostics) {
	v, hclDiags := attr.Expr.Value(nil)
	switch {
	case hclDiags.HasErrors():
		return "", tfdiags.FromHCL(hclDiags)
	case v.IsNull() || !v.IsKnown() || v.Type() != cty.String:
		return "", tfdiags.At(attr.Expr.Range(), "Incorrect attribute value type",
			fmt.Sprintf("The value of %q must be a string.", attr.Name))
	}
	return v.AsString(), nil
}

func parseHashes(attr *hcl.Attribute) ([]string, tfdiags.Diagnostics) {
	if attr == nil {
		return nil, nil
	}
	exprs, hclDiags := hcl.ExprList(attr.Expr)
	if hclDiags.HasErrors() {
		return nil, tfdiags.FromHCL(hclDiags)
	}
	var hashes []string
	for _, expr := range exprs {
		v, hclDiags := expr.Value(nil)
		if hclDiags.HasErrors() || v.IsNull() || !v.IsKnown() || v.Type() != cty.String || !hashForm.MatchString(v.AsString()) {
			return nil, tfdiags.At(expr.Range(), "Invalid provider hash string",
				"A hash must be a string that begins with its scheme, such as h1: or zh:.")
		}
		hashes = append(hashes, v.AsString())
	}
	if len(hashes) == 0 {
		return nil, tfdiags.At(attr.Expr.Range(), "Invalid provider hash set",
			"The hashes must hold at least one, or be left out.")
	}
	return hashes, nil
}

// Bytes returns the content of a lock file.
func (l Locks) Bytes() []byte {
	var b bytes.Buffer
	b.WriteString(header)
	for _, addr := range slices.SortedFunc(maps.Keys(l), compareAddrs) {
		lock := l[addr]
		// The longest name that is there decides where the values stand.
		width := len("version")
		constraints := lock.Constraints.String()
		if constraints != "" {
			width = len("constraints")
		}
		fmt.Fprintf(&b, "\nprovider %q {\n", addr.String())
		fmt.Fprintf(&b, "  %-*s = %q\n", width, "version", lock.Version.String())
		if constraints != "" {
			fmt.Fprintf(&b, "  %-*s = %q\n", width, "constraints", constraints)
		}
		if hashes := normalized(lock.Hashes); len(hashes) > 0 {
			b.WriteString("  hashes = [\n")
			for _, hash := range hashes {
				fmt.Fprintf(&b, "    %q,\n", hash)
			}
			b.WriteString("  ]\n")
		}
		b.WriteString("}\n")
	}
	return b.Bytes()
}

// Selects tells whether the locks, as they were read, select the same packages as
// wanted ones and list their hashes as they are written. Constraints only say why, and
// do not matter.
func (l Locks) Selects(wanted Locks) bool {
	return maps.EqualFunc(l, wanted, func(a, b Lock) bool {
		return a.Version == b.Version && slices.Equal(a.Hashes, normalized(b.Hashes))
	})
}

// normalized returns hashes sorted and once each.
func normalized(hashes []string) []string {
	out := slices.Clone(hashes)
	slices.Sort(out)
	return slices.Compact(out)
}

func compareAddrs(a, b addrs.Provider) int {
	return cmp.Or(
		cmp.Compare(a.Hostname, b.Hostname), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Type, b.Type))
}

// Write replaces a lock file atomically, unless it has this content already.
func (l Locks) Write(path string) error {
	content := l.Bytes()
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, content) { //nolint:gosec // the caller's own working directory
		return nil
	}
	temp, err := os.CreateTemp(filepath.Dir(path), Name+".*")
	if err != nil {
		return fmt.Errorf("cannot write the dependency lock file: %w", err)
	}
	defer os.Remove(temp.Name()) //nolint:errcheck // it is gone if all went well
	_, err = temp.Write(content)
	err = errors.Join(err, temp.Chmod(0o644), temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("cannot write the dependency lock file: %w", err)
	}
	return nil
}

package configs

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/bounds"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// VariableSources says where values of root input variables come from. Later
// sources win: environment, terraform.tfvars, terraform.tfvars.json,
// *.auto.tfvars in the order of their names, then Given in its order.
type VariableSources struct {
	// Dir holds terraform.tfvars and *.auto.tfvars files.
	Dir string
	// Environ are environment variables as NAME=VALUE; those that begin with TF_VAR_ count.
	Environ []string
	// Given are the -var and -var-file options in the order of the command line.
	Given []VariableOption
	// Read, if not nil, takes the bytes of every file that was read, for diagnostics.
	Read map[string][]byte
}

// VariableOption is one -var ("name=value") or -var-file option.
type VariableOption struct {
	Assignment string
	File       string
}

// CollectVariables gathers the values of a root module's variables. Variables
// without a value anywhere are left out.
func CollectVariables(m *Module, from VariableSources) (map[string]cty.Value, tfdiags.Diagnostics) {
	c := &collector{module: m, values: map[string]cty.Value{}, parser: hclparse.NewParser(), read: from.Read}
	for _, entry := range from.Environ {
		if name, value, ok := strings.Cut(strings.TrimPrefix(entry, "TF_VAR_"), "="); ok && strings.HasPrefix(entry, "TF_VAR_") && m.Variables[name] != nil {
			c.setText(name, value)
		}
	}
	for _, path := range automaticFiles(from.Dir) {
		c.file(path)
	}
	for _, option := range from.Given {
		if option.File != "" {
			c.file(option.File)
		} else {
			c.assignment(option.Assignment)
		}
	}
	return c.values, c.diags
}

// automaticFiles lists the variable files that are read without being named.
func automaticFiles(dir string) []string {
	var out []string
	for _, name := range []string{"terraform.tfvars", "terraform.tfvars.json"} {
		if path := filepath.Join(dir, name); isFile(path) {
			out = append(out, path)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return out
	}
	var auto []string
	for _, entry := range entries {
		name := entry.Name()
		if !entry.IsDir() && (strings.HasSuffix(name, ".auto.tfvars") || strings.HasSuffix(name, ".auto.tfvars.json")) {
			auto = append(auto, filepath.Join(dir, name))
		}
	}
	slices.Sort(auto)
	return append(out, auto...)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

type collector struct {
	module *Module
	values map[string]cty.Value
	parser *hclparse.Parser
	read   map[string][]byte
	diags  tfdiags.Diagnostics
}

// file takes the values of one variable file.
func (c *collector) file(path string) {
	data, err := readFile(path)
	if err != nil {
		c.fail("Failed to read variables file", fmt.Sprintf("Given variables file %s cannot be read: %s.", path, err))
		return
	}
	if c.read != nil {
		c.read[path] = data
	}
	check, parse := bounds.HCL, c.parser.ParseHCL
	if strings.HasSuffix(path, ".json") {
		check, parse = bounds.HCLJSON, c.parser.ParseJSON
	}
	if hclDiags := check(data, path); hclDiags.HasErrors() {
		c.diags = append(c.diags, tfdiags.FromHCL(hclDiags)...)
		return
	}
	file, hclDiags := parse(data, path)
	c.diags = append(c.diags, tfdiags.FromHCL(hclDiags)...)
	if file == nil {
		return
	}
	attrs, hclDiags := file.Body.JustAttributes()
	c.diags = append(c.diags, tfdiags.FromHCL(hclDiags)...)
	for _, name := range sortedKeys(attrs) {
		attr := attrs[name]
		val, hclDiags := attr.Expr.Value(nil)
		c.diags = append(c.diags, tfdiags.FromHCL(hclDiags)...)
		if c.module.Variables[name] == nil {
			warning := tfdiags.At(attr.NameRange, "Value for undeclared variable",
				fmt.Sprintf("The root module declares no variable named %q, but a value for it was found in this file. Remove the value, or add a variable block.", name))
			c.diags = append(c.diags, warning.Warnings()...)
			continue
		}
		c.values[name] = val
	}
}

// assignment takes one -var option.
func (c *collector) assignment(text string) {
	name, value, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		c.fail("Invalid -var option", fmt.Sprintf("The given -var option %q is not of the form name=value.", text))
		return
	}
	if name != strings.TrimSpace(name) {
		c.fail("Invalid -var option", "There must be no spaces around the variable's name and the equals sign.")
		return
	}
	if c.module.Variables[name] == nil {
		c.fail("Value for undeclared variable", fmt.Sprintf("A variable named %q was assigned on the command line, but the root module does not declare it. Add a variable block, or leave the option out.", name))
		return
	}
	c.setText(name, value)
}

// setText takes a value given as text.
func (c *collector) setText(name, text string) {
	val, diags := TextValue(c.module.Variables[name], text)
	c.diags = append(c.diags, diags...)
	if !diags.HasErrors() {
		c.values[name] = val
	}
}

// TextValue is the value that a text stands for: the text itself for strings and untyped
// variables, an expression for everything else. Problems may quote it.
func TextValue(v *Variable, text string) (cty.Value, tfdiags.Diagnostics) {
	if !v.Typed || v.Type == cty.String || v.Type == cty.Number || v.Type == cty.Bool {
		return cty.StringVal(text), nil
	}
	filename := fmt.Sprintf("<value for var.%s>", v.Name)
	var expr hcl.Expression
	var val cty.Value
	hclDiags := bounds.Expression([]byte(text), filename)
	if !hclDiags.HasErrors() {
		expr, hclDiags = hclsyntax.ParseExpression([]byte(text), filename, hcl.InitialPos)
	}
	if !hclDiags.HasErrors() {
		val, hclDiags = expr.Value(nil)
	}
	if hclDiags.HasErrors() {
		return cty.NilVal, tfdiags.FromHCL(hclDiags)
	}
	return val, nil
}

func (c *collector) fail(summary, detail string) {
	c.diags = append(c.diags, tfdiags.New(tfdiags.Error, summary, detail)...)
}

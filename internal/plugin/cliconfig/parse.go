package cliconfig

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/hashicorp/hcl"
	"github.com/hashicorp/hcl/hcl/ast"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// The CLI configuration is written in the first version of HCL, in which keys
// may be quoted, and so cannot be read by the parser of the language itself.

// merge adds what a file says.
func (c *Config) merge(src []byte, name string) (diags tfdiags.Diagnostics) {
	defer func() {
		// The old parser is not maintained, and a file must not bring us down.
		if r := recover(); r != nil {
			diags = invalid(name, fmt.Sprintf("it cannot be parsed: %v", r))
		}
	}()
	file, err := hcl.ParseBytes(src)
	if err != nil {
		return invalid(name, err.Error())
	}
	root, ok := file.Node.(*ast.ObjectList)
	if !ok {
		return invalid(name, "it does not hold settings")
	}
	var settings struct {
		PluginCacheDir string                    `hcl:"plugin_cache_dir"`
		Hosts          map[string]hostSettings   `hcl:"host"`
		Credentials    map[string]map[string]any `hcl:"credentials"`
	}
	if err := hcl.DecodeObject(&settings, root); err != nil {
		return invalid(name, err.Error())
	}
	if settings.PluginCacheDir != "" {
		c.PluginCacheDir = os.ExpandEnv(settings.PluginCacheDir)
	}
	diags = append(c.mergeHosts(settings.Hosts, name), c.mergeCredentials(settings.Credentials, name)...)
	for _, item := range root.Items {
		if keyOf(item) == "provider_installation" {
			diags = append(diags, c.mergeInstallation(item, name)...)
		}
	}
	return diags
}

func invalid(name, why string) tfdiags.Diagnostics {
	return tfdiags.New(tfdiags.Error, "Invalid CLI configuration", fmt.Sprintf("The CLI configuration file %s has a mistake: %s.", name, why))
}

func keyOf(item *ast.ObjectItem) string {
	if len(item.Keys) == 0 {
		return ""
	}
	key, _ := item.Keys[0].Token.Value().(string)
	return key
}

func (c *Config) mergeInstallation(item *ast.ObjectItem, name string) tfdiags.Diagnostics {
	body, ok := item.Val.(*ast.ObjectType)
	switch {
	case !ok:
		return invalid(name, "provider_installation must be a block")
	case c.Explicit:
		return tfdiags.New(tfdiags.Error, "Too many provider_installation blocks",
			fmt.Sprintf("The CLI configuration has more than one provider_installation block; one of them is in %s. Join them into one.", name))
	}
	c.Explicit = true
	var diags tfdiags.Diagnostics
	for _, method := range body.List.Items {
		methodBody, ok := method.Val.(*ast.ObjectType)
		if !ok {
			diags = append(diags, invalid(name, fmt.Sprintf("%s in provider_installation must be a block", keyOf(method)))...)
			continue
		}
		diags = append(diags, c.mergeMethod(keyOf(method), methodBody, name)...)
	}
	return diags
}

func (c *Config) mergeMethod(kind string, body *ast.ObjectType, name string) tfdiags.Diagnostics {
	if kind == "dev_overrides" {
		if len(c.Methods) > 0 {
			return invalid(name, "dev_overrides must come before the other installation methods, since it overrides them")
		}
		return c.mergeOverrides(body, name)
	}
	var args struct {
		Path    string   `hcl:"path"`
		URL     string   `hcl:"url"`
		Include []string `hcl:"include"`
		Exclude []string `hcl:"exclude"`
	}
	if err := hcl.DecodeObject(&args, body); err != nil {
		return invalid(name, fmt.Sprintf("the %s block: %s", kind, err))
	}
	method := Method{Kind: Kind(kind)}
	switch method.Kind {
	case FilesystemMirror:
		method.Location = args.Path
	case NetworkMirror:
		method.Location = args.URL
	case Direct:
		method.Location = "registry"
	default:
		return invalid(name, fmt.Sprintf("there is no installation method %q", kind))
	}
	if method.Location == "" {
		return invalid(name, fmt.Sprintf("a %s block must say where the mirror is", kind))
	}
	var err error
	if method.Include, err = parsePatterns(args.Include); err == nil {
		method.Exclude, err = parsePatterns(args.Exclude)
	}
	if err != nil {
		return invalid(name, fmt.Sprintf("the %s block: %s", kind, err))
	}
	c.Methods = append(c.Methods, method)
	return nil
}

func parsePatterns(texts []string) ([]Pattern, error) {
	var out []Pattern
	for _, text := range texts {
		pattern, err := ParsePattern(text)
		if err != nil {
			return nil, err
		}
		out = append(out, pattern)
	}
	return out, nil
}

func (c *Config) mergeOverrides(body *ast.ObjectType, name string) tfdiags.Diagnostics {
	var overrides map[string]string
	if err := hcl.DecodeObject(&overrides, body); err != nil {
		return invalid(name, fmt.Sprintf("the dev_overrides block: %s", err))
	}
	for source, dir := range overrides {
		addr, err := addrs.ParseProviderSource(source)
		if err != nil {
			return invalid(name, fmt.Sprintf("the dev_overrides block: %q is not the address of a provider", source))
		}
		c.DevOverrides[addr] = filepath.Clean(dir)
	}
	return nil
}

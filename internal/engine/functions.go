package engine

import (
	"bytes"
	"context"
	"maps"
	"path/filepath"
	"regexp"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/lang"
	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// calledProvider finds the local names of providers whose functions a text calls.
// It finds more in comments and strings, which does no harm.
var calledProvider = regexp.MustCompile(`provider::([\pL_][\pL\pN_-]*)::`)

// callable is a function of a provider.
type callable struct {
	provider addrs.Provider
	name     string
	schema   *providers.FunctionSchema
}

// resolveFunctions finds the functions of providers that a module's files call. A
// function that does not exist is no mistake before it is called, because try and
// can may catch that.
func (c *compiler) resolveFunctions(m *moduleProgram) {
	for name := range c.calledProviders(m.config) {
		required := m.config.Module.RequiredProviders[name]
		if required == nil {
			continue
		}
		found, diags := c.functionsOf(required.Source, name)
		c.diags = append(c.diags, diags.WithSubject(required.Range)...)
		if m.functions == nil {
			m.functions = map[string]callable{}
			c.program.callers = append(c.program.callers, m)
		}
		maps.Copy(m.functions, found)
	}
}

// askedFunctions finds the functions of providers that an expression of the root
// module calls, which its files need not.
func (c *compiler) askedFunctions(src []byte) map[string]callable {
	out := map[string]callable{}
	for _, match := range calledProvider.FindAllSubmatch(src, -1) {
		name := string(match[1])
		if required := c.program.root.config.Module.RequiredProviders[name]; required != nil {
			found, diags := c.functionsOf(required.Source, name)
			c.diags = append(c.diags, diags...)
			maps.Copy(out, found)
		}
	}
	return out
}

// functionsOf returns a provider's functions by the names under which a module
// that calls the provider local knows them.
func (c *compiler) functionsOf(provider addrs.Provider, local string) (map[string]callable, tfdiags.Diagnostics) {
	schema, diags := c.schemas.schema(c.ctx, provider)
	if diags.HasErrors() {
		return nil, diags
	}
	out := make(map[string]callable, len(schema.Functions))
	for name, fn := range schema.Functions {
		out["provider::"+local+"::"+name] = callable{provider, name, fn}
	}
	return out, diags
}

// calledProviders returns the local names of providers that the files of a module call.
func (c *compiler) calledProviders(config *configs.Config) map[string]bool {
	if c.called == nil {
		c.called = map[string]map[string]bool{}
		for name, text := range config.Root.Sources {
			addCalledProviders(c.called, filepath.Dir(name), text)
		}
	}
	return c.called[filepath.Clean(config.Module.Dir)]
}

func addCalledProviders(into map[string]map[string]bool, dir string, text []byte) {
	if !bytes.Contains(text, []byte("provider::")) {
		return
	}
	if into[dir] == nil {
		into[dir] = map[string]bool{}
	}
	for _, match := range calledProvider.FindAllSubmatch(text, -1) {
		into[dir][string(match[1])] = true
	}
}

// functionsOf returns what expressions of a module can call.
func (w *walk) functionsOf(m *moduleProgram) map[string]function.Function {
	if with, ok := w.moduleFunctions[m]; ok {
		return with
	}
	return w.functions
}

// addFunctions makes functions of providers known in a module, before anything of
// it is evaluated.
func (w *walk) addFunctions(m *moduleProgram, more map[string]callable) {
	if len(more) == 0 {
		return
	}
	if w.moduleFunctions == nil {
		w.moduleFunctions = map[*moduleProgram]map[string]function.Function{}
	}
	with := maps.Clone(w.functionsOf(m))
	for name, fn := range more {
		with[name] = w.providerFunction(fn)
	}
	w.moduleFunctions[m] = with
}

// providerFunction makes a provider's function callable. Calls go to a process
// that need not be configured.
func (w *walk) providerFunction(fn callable) function.Function {
	spec := &function.Spec{
		Description: fn.schema.Description,
		Type:        function.StaticReturnType(fn.schema.Return),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			ctx := w.ctx
			if ctx == nil {
				ctx = context.Background()
			}
			client, diags := w.engine.pool.unconfigured(ctx, fn.provider)
			if diags.HasErrors() {
				return cty.DynamicVal, diags.Err()
			}
			result, err := client.CallFunction(ctx, fn.name, args)
			if err == nil {
				err = w.results.check(fn, args, result)
			}
			return result, err
		},
	}
	for _, p := range fn.schema.Parameters {
		p.AllowDynamicType = true
		spec.Params = append(spec.Params, p)
	}
	if p := fn.schema.VariadicParameter; p != nil {
		variadic := *p
		variadic.AllowDynamicType = true
		spec.VarParam = &variadic
	}
	return lang.Guarded(function.New(spec))
}

package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/open-policy-agent/opa/v1/util"

	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

const (
	// MaxModules and MaxSource bound what is compiled: files, and bytes of all of them.
	MaxModules = 1000
	MaxSource  = 4 << 20
	// maxFindings bounds what one evaluation reports, and maxMessage the bytes of one message.
	maxFindings = 200
	maxMessage  = 1000
)

// Source is a set of policies that belong together, such as those of one revision.
type Source struct {
	// Name says where the policies come from, as people know it.
	Name string
	// Files are Rego modules by file name. What ends in _test.rego is left out.
	Files map[string][]byte
	// Data is what the modules find below data, beside themselves.
	Data map[string]any
	// WarnOnly tells that denials only warn; WarnUntil is the end of a window in which they
	// do. The zero time is none.
	WarnOnly  bool
	WarnUntil time.Time
}

// Finding is what one rule says about a plan.
type Finding struct {
	// Source is the name of the [Source], Rule the rule as in main.deny_public.
	Source, Rule string
	// Message is the policy's own.
	Message string
	// Denies tells that the plan must not be applied. A denial within its source's
	// window does not deny, and Until says when it will; else it is zero.
	Denies bool
	Until  time.Time
}

// Set is a compiled set of policies. It is safe for concurrent use.
type Set struct{ sources []*compiled }

// compiled is one source, ready to be asked.
type compiled struct {
	Source
	rules []rule
}

// rule is one rule to ask about each plan.
type rule struct {
	name      string
	denies    bool
	query     rego.PreparedEvalQuery
	exception *rego.PreparedEvalQuery
	short     string
}

// ruleName matches what conftest takes for a rule about its input.
var ruleName = regexp.MustCompile(`^(deny|violation|warn)(_[a-zA-Z0-9_]+)*$`)

// forbidden are the built-in functions that would leave the machine or look into
// the process or its files: a schema may refer to others by any URL.
var forbidden = []string{"http.send", "net.lookup_ip_addr", "opa.runtime", "json.match_schema", "json.verify_schema"}

// Compile prepares policies. A mistake in one is a diagnostic that names file and line.
func Compile(ctx context.Context, sources []Source) (*Set, tfdiags.Diagnostics) {
	set := &Set{}
	var diags tfdiags.Diagnostics
	for _, source := range sources {
		c, err := compile(ctx, source)
		if err != nil {
			diags = append(diags, invalid(source.Name, err)...)
			continue
		}
		set.sources = append(set.sources, c)
	}
	return set, diags
}

// invalid says what is wrong with a source, one diagnostic for each mistake.
func invalid(source string, err error) tfdiags.Diagnostics {
	const remedy = " No plan is applied until the policy can be evaluated; test it with \"conftest verify\" or \"opa check\" before it is published."
	var all ast.Errors
	if !errors.As(err, &all) {
		return tfdiags.New(tfdiags.Error, "Invalid policy", fmt.Sprintf("The policies of %s cannot be used: %s.%s", source, err, remedy))
	}
	var diags tfdiags.Diagnostics
	for _, e := range all {
		where := ""
		if e.Location != nil {
			where = fmt.Sprintf("%s, line %d: ", e.Location.File, e.Location.Row)
		}
		diags = append(diags, tfdiags.New(tfdiags.Error, "Invalid policy", fmt.Sprintf("%s: %s%s.%s", source, where, e.Message, remedy))...)
	}
	return diags
}

func compile(ctx context.Context, source Source) (*compiled, error) {
	modules, err := parse(source.Files)
	if err != nil {
		return nil, err
	}
	compiler := ast.NewCompiler().WithCapabilities(capabilities())
	if compiler.Compile(modules); compiler.Failed() {
		return nil, compiler.Errors
	}
	store, err := storeOf(source)
	if err != nil {
		return nil, err
	}
	c := &compiled{Source: source}
	for _, path := range paths(modules) {
		r, err := prepare(ctx, compiler, store, path)
		if err != nil {
			return nil, err
		}
		c.rules = append(c.rules, r)
	}
	return c, nil
}

// storeOf holds a source's data, which must be what JSON can say.
func storeOf(source Source) (storage.Store, error) {
	if source.Data == nil {
		return inmem.New(), nil
	}
	encoded, err := json.Marshal(source.Data)
	if err != nil {
		return nil, fmt.Errorf("the data is nothing that JSON can say: %w", err)
	}
	var data map[string]any
	if err := util.UnmarshalJSON(encoded, &data); err != nil {
		return nil, fmt.Errorf("read data: %w", err)
	}
	return inmem.NewFromObject(data), nil
}

// capabilities are what a policy may use: everything that stays in the evaluation.
func capabilities() *ast.Capabilities {
	all := ast.CapabilitiesForThisVersion()
	all.Builtins = slices.DeleteFunc(all.Builtins, func(b *ast.Builtin) bool { return slices.Contains(forbidden, b.Name) })
	return all
}

// parse reads modules in the syntax of today, or in that from before Rego 1.0.
func parse(files map[string][]byte) (map[string]*ast.Module, error) {
	modules := make(map[string]*ast.Module, len(files))
	size := 0
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.HasSuffix(name, "_test.rego") {
			continue
		}
		if size += len(files[name]); size > MaxSource || len(modules) == MaxModules {
			return nil, fmt.Errorf("there are more than %d files or %d bytes of them", MaxModules, MaxSource)
		}
		module, err := ast.ParseModuleWithOpts(name, string(files[name]), ast.ParserOptions{RegoVersion: ast.RegoV1})
		if err != nil {
			older, olderErr := ast.ParseModuleWithOpts(name, string(files[name]), ast.ParserOptions{RegoVersion: ast.RegoV0})
			if olderErr != nil {
				return nil, err
			}
			module = older
		}
		modules[name] = module
	}
	return modules, nil
}

// paths are the rules to ask, as in main.deny, sorted.
func paths(modules map[string]*ast.Module) []string {
	found := map[string]bool{}
	for _, module := range modules {
		for _, r := range module.Rules {
			if name := r.Head.Ref()[0].Value.String(); ruleName.MatchString(name) && len(r.Head.Args) == 0 {
				found[strings.TrimPrefix(module.Package.Path.String(), "data.")+"."+name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

func prepare(ctx context.Context, compiler *ast.Compiler, store storage.Store, path string) (rule, error) {
	namespace, name := path[:strings.LastIndex(path, ".")], path[strings.LastIndex(path, ".")+1:]
	kind, short, _ := strings.Cut(name, "_")
	r := rule{name: path, denies: kind != "warn", short: short}
	query := func(text string) (rego.PreparedEvalQuery, error) {
		return rego.New(rego.Query(text), rego.Compiler(compiler), rego.Store(store)).PrepareForEval(ctx)
	}
	var err error
	if r.query, err = query("data." + path); err != nil {
		return r, err
	}
	if len(compiler.GetRulesExact(ast.MustParseRef("data."+namespace+".exception"))) > 0 {
		exception, err := query(fmt.Sprintf("data.%s.exception[_][_] == %q", namespace, short))
		if err != nil {
			return r, err
		}
		r.exception = &exception
	}
	return r, nil
}

// Empty tells that there is nothing to ask.
func (s *Set) Empty() bool { return len(s.sources) == 0 }

// Evaluate asks all policies about a plan, which is Terraform's plan JSON in decoded
// form. It ends with ctx. What the plan marks as sensitive is hidden in messages: policies
// see all values, and may put any into their words.
func (s *Set) Evaluate(ctx context.Context, plan any, now time.Time) ([]Finding, error) {
	input, err := ast.InterfaceToValue(plan)
	if err != nil {
		return nil, fmt.Errorf("ask policies: %w", err)
	}
	hide := hiding(plan)
	var findings []Finding
	for _, c := range s.sources {
		for _, r := range c.rules {
			messages, err := r.ask(ctx, input)
			if err != nil {
				return nil, fmt.Errorf("ask policies: %s: %s: %w", c.Name, r.name, err)
			}
			for _, message := range messages {
				if len(findings) == maxFindings {
					return findings, nil
				}
				findings = append(findings, c.finding(r, bounded(hide.Replace(message)), now))
			}
		}
	}
	return findings, nil
}

func (c *compiled) finding(r rule, message string, now time.Time) Finding {
	f := Finding{Source: c.Name, Rule: r.name, Message: message, Denies: r.denies && !c.WarnOnly}
	if f.Denies && now.Before(c.WarnUntil) {
		f.Denies, f.Until = false, c.WarnUntil
	}
	return f
}

// ask returns a rule's messages, sorted, none if an exception is made.
func (r rule) ask(ctx context.Context, input ast.Value) ([]string, error) {
	results, err := r.eval(ctx, r.query, input)
	if err != nil {
		return nil, err
	}
	var messages []string
	for _, result := range results {
		for _, expression := range result.Expressions {
			messages = append(messages, messagesOf(expression.Value)...)
		}
	}
	slices.Sort(messages)
	messages = slices.Compact(messages)
	if r.exception == nil || len(messages) == 0 {
		return messages, nil
	}
	excepted, err := r.eval(ctx, *r.exception, input)
	if err != nil || len(excepted) > 0 {
		return nil, err
	}
	return messages, nil
}

func (r rule) eval(ctx context.Context, query rego.PreparedEvalQuery, input ast.Value) (rego.ResultSet, error) {
	results, err := query.Eval(ctx, rego.EvalParsedInput(input))
	if topdown.IsCancel(err) {
		return nil, errors.New("it did not end in time")
	}
	return results, err
}

// messagesOf reads what a rule gives: a set of messages, of objects with a msg, or a
// single one of these, or true.
func messagesOf(value any) []string {
	switch value := value.(type) {
	case bool:
		if value {
			return []string{"the rule holds"}
		}
		return nil
	case string:
		return []string{value}
	case []any:
		var out []string
		for _, item := range value {
			out = append(out, messagesOf(item)...)
		}
		return out
	case map[string]any:
		if message, ok := value["msg"].(string); ok {
			return []string{message}
		}
		return []string{fmt.Sprint(value)}
	}
	return []string{fmt.Sprint(value)}
}

func bounded(message string) string {
	if len(message) > maxMessage {
		return strings.ToValidUTF8(message[:maxMessage], "") + "…"
	}
	return message
}

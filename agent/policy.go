package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/guard"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/policy"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

const (
	// policyDir is the folder of a revision that holds policies, as conftest's.
	policyDir = "policy"
	// policyTimeout bounds the evaluation of all policies about one plan.
	policyTimeout = time.Minute
	// policyOfRevision is what findings call the policies of the revision.
	policyOfRevision = "revision"
)

// policies are those that were asked last, and what they said.
type policies struct {
	// sources are what was compiled.
	sources  []policy.Source
	set      *policy.Set
	findings []policy.Finding
	// asked is what findings speak of, the zero value if of nothing.
	asked question
}

// question tells which plans policies were asked about: the one that shows the drift, and
// what is to be done. While the engine gives both again, it is the same question.
type question struct{ seen, planned *plans.Origin }

func (q question) answered(before question) bool {
	return q == before && q.seen != nil && q.planned != nil
}

// askPolicies asks all policies about the plan. A denial refuses the plan as a whole.
func (r *round) askPolicies(ctx context.Context) error {
	set, err := r.policySet(ctx)
	if err != nil || set.Empty() {
		return err
	}
	findings, err := r.findings(ctx, set)
	if err != nil {
		return err
	}
	var denials tfdiags.Diagnostics
	for _, f := range findings {
		r.policies = append(r.policies, findingOf(f))
		d := diagnosticOf(f)
		r.diags = append(r.diags, d...)
		if f.Denies {
			denials = append(denials, d...)
		}
	}
	if len(denials) == 0 {
		return nil
	}
	r.changes = r.plannedChanges("refused")
	return fmt.Errorf("%w: %w", errRefused, summaries(denials))
}

// policySet compiles the policies that are declared and those of the revision,
// unless they are the ones of the round before.
func (r *round) policySet(ctx context.Context) (*policy.Set, error) {
	sources := []policy.Source{}
	if len(r.revision.policies.Files) > 0 {
		sources = append(sources, r.revision.policies)
	}
	for _, name := range slices.Sorted(maps.Keys(r.declared.PlanPolicies)) {
		sources = append(sources, sourceOf(r.declared.PlanPolicies[name]))
	}
	kept := &r.agent.policies
	if kept.set != nil && reflect.DeepEqual(kept.sources, sources) {
		return kept.set, nil
	}
	set, diags := policy.Compile(ctx, sources)
	if diags.HasErrors() {
		return nil, diags.Err()
	}
	*kept = policies{sources: sources, set: set}
	return set, nil
}

func sourceOf(declared control.Policy) policy.Source {
	source := policy.Source{Name: declared.Name, Files: map[string][]byte{}, WarnOnly: declared.Enforcement == control.EnforceWarn, WarnUntil: declared.WarnUntil}
	for name, module := range declared.Modules {
		source.Files[name] = []byte(module)
	}
	return source
}

// findings asks about the plan. One that changes nothing is not asked about again while
// it is given again unchanged: policies say what they said before. A denial is asked for
// in each round, so that none outlasts its reason.
func (r *round) findings(ctx context.Context, set *policy.Set) ([]policy.Finding, error) {
	kept := &r.agent.policies
	ended := func(f policy.Finding) bool { return !f.Until.IsZero() && !r.agent.now().Before(f.Until) }
	asked := question{r.seen.Origin, r.plan.Origin}
	if asked.answered(kept.asked) && !slices.ContainsFunc(kept.findings, ended) {
		return kept.findings, nil
	}
	kept.findings, kept.asked = nil, question{}
	ctx, cancel := context.WithTimeout(ctx, policyTimeout)
	defer cancel()
	plan, err := r.decodedPlan(ctx)
	if err != nil {
		return nil, err
	}
	findings, err := set.Evaluate(ctx, plan, r.agent.now())
	if err != nil {
		return nil, err
	}
	if quiet(r.plan) && !slices.ContainsFunc(findings, func(f policy.Finding) bool { return f.Denies }) {
		kept.findings, kept.asked = findings, asked
	}
	return findings, nil
}

// quiet tells that a plan asks nothing of any scope.
func quiet(plan *plans.Plan) bool {
	return !slices.ContainsFunc(plan.Changes, func(c *plans.Change) bool { return len(guard.AskedOf(c)) > 0 })
}

// decodedPlan is Terraform's plan JSON as policies take it, with all drift, whatever was
// decided about it.
func (r *round) decodedPlan(ctx context.Context) (any, error) {
	asked := *r.plan
	asked.Drift = r.seen.Drift
	document, _, err := r.planDocument(ctx, &asked)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	var plan any
	if err := decoder.Decode(&plan); err != nil {
		return nil, fmt.Errorf("decode plan: %w", err)
	}
	return plan, nil
}

func findingOf(f policy.Finding) control.PolicyFinding {
	out := control.PolicyFinding{Policy: f.Source, Rule: f.Rule, Message: f.Message, Decision: control.EnforceWarn, DeniesFrom: f.Until}
	if f.Denies {
		out.Decision = control.EnforceDeny
	}
	return out
}

func diagnosticOf(f policy.Finding) tfdiags.Diagnostics {
	said := fmt.Sprintf("The rule %s of policy %q says: %s.", f.Rule, f.Source, strings.TrimSuffix(f.Message, "."))
	switch {
	case f.Denies:
		return tfdiags.New(tfdiags.Error, "Plan denied by policy", said+" Nothing was applied. Publish a revision that the policy allows, or change the policy.")
	case !f.Until.IsZero():
		return tfdiags.New(tfdiags.Warning, "Plan soon denied by policy", fmt.Sprintf("%s From %s on such a plan is refused.", said, f.Until.Format(time.RFC3339)))
	}
	return tfdiags.New(tfdiags.Warning, "Policy warns of the plan", said)
}

// revisionPolicies reads the policies of a revision, and makes sure that they compile.
func (a *Agent) revisionPolicies(dir string) (policy.Source, error) {
	source := policy.Source{Name: policyOfRevision, Files: map[string][]byte{}, Data: map[string]any{}}
	root := filepath.Join(dir, policyDir)
	size := 0
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, _ := filepath.Rel(root, file) // both have the same root
		name = filepath.ToSlash(name)
		if !isPolicy(name) {
			return nil
		}
		data, err := os.ReadFile(file) //nolint:gosec // a file of the verified revision
		if err != nil {
			return err
		}
		if size += len(data); size > policy.MaxSource {
			return fmt.Errorf("the files in %s have more than %d bytes", policyDir, policy.MaxSource)
		}
		if strings.HasSuffix(name, ".rego") {
			source.Files[name] = data
			return nil
		}
		return addData(source.Data, name, data)
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return source, fmt.Errorf("read policies: %w", err)
	}
	if len(source.Files) == 0 {
		return policy.Source{}, nil
	}
	_, diags := policy.Compile(context.Background(), []policy.Source{source})
	return source, diags.Err()
}

// isPolicy tells whether the name is that of a module or of data, as OPA's bundles call them.
func isPolicy(name string) bool {
	return strings.HasSuffix(name, ".rego") || slices.Contains([]string{"data.json", "data.yaml", "data.yml"}, path.Base(name))
}

// addData puts the content of a data file where its folder says.
func addData(into map[string]any, name string, data []byte) error {
	var content any
	if err := yaml.Unmarshal(data, &content); err != nil { // JSON is YAML
		return fmt.Errorf("%s: %w", name, err)
	}
	object, ok := content.(map[string]any)
	if !ok {
		return fmt.Errorf("%s must hold an object", name)
	}
	if folder := path.Dir(name); folder != "." {
		for _, step := range strings.Split(folder, "/") {
			next, ok := into[step].(map[string]any)
			if !ok {
				next = map[string]any{}
				into[step] = next
			}
			into = next
		}
	}
	maps.Copy(into, object)
	return nil
}

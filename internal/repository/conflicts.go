package repository

import (
	"context"
	"errors"
	"fmt"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// ErrConflict is wrapped by errors about declarations by which two agents would write the same.
var ErrConflict = errors.New("two agents must not write the same")

// Conflicts lists the overlaps of scopes that there would be if some documents of one
// environment were declared beside those that are.
func (r *Repository) Conflicts(ctx context.Context, docs ...control.Declared) ([]control.Conflict, error) {
	view, err := r.load(ctx)
	if err != nil {
		return nil, fmt.Errorf("compare scopes: %w", err)
	}
	return r.conflicts(ctx, view, docs)
}

// refuseConflicts is an error if documents must not be declared together with others.
func (r *Repository) refuseConflicts(ctx context.Context, view *view, docs []control.Declared) error {
	conflicts, err := r.conflicts(ctx, view, docs)
	if err != nil {
		return err
	}
	var errs []error
	for _, conflict := range conflicts {
		errs = append(errs, fmt.Errorf("%w: %w", ErrConflict, conflict))
	}
	return errors.Join(errs...)
}

// conflicts reads scopes only where agents hold different ones.
func (r *Repository) conflicts(ctx context.Context, view *view, docs []control.Declared) ([]control.Conflict, error) {
	var out []control.Conflict
	for environment, declared := range byEnvironment(docs) {
		agents, err := withDeclared[control.Agent](ctx, r, view, environment, control.KindAgent, declared)
		if err != nil {
			return nil, err
		}
		if !differ(agents) {
			continue
		}
		scopes, err := withDeclared[control.Scope](ctx, r, view, environment, control.KindScope, declared)
		if err != nil {
			return nil, err
		}
		list := make([]control.Agent, 0, len(agents))
		for _, agent := range agents {
			list = append(list, agent)
		}
		out = append(out, control.Conflicts(list, scopes)...)
	}
	return out, nil
}

// byEnvironment sorts the agents and scopes among documents.
func byEnvironment(docs []control.Declared) map[string][]control.Declared {
	out := map[string][]control.Declared{}
	for _, doc := range docs {
		if ref := doc.Ref(); ref.Kind == control.KindAgent || ref.Kind == control.KindScope {
			out[ref.Environment] = append(out[ref.Environment], doc)
		}
	}
	return out
}

// differ tells whether there are agents with different scopes.
func differ(agents map[string]control.Agent) bool {
	var first *control.Agent
	for _, agent := range agents {
		if first == nil {
			first = &agent
		} else if !control.StandIns(*first, agent) {
			return true
		}
	}
	return false
}

// withDeclared returns an environment's documents of a kind by name: those given, and
// those declared already under other names.
func withDeclared[T control.Declared](ctx context.Context, r *Repository, view *view, environment string, kind control.Kind, docs []control.Declared) (map[string]T, error) {
	out := map[string]T{}
	for _, doc := range docs {
		if one, ok := doc.(T); ok {
			out[doc.Ref().Name] = one
		}
	}
	list, err := view.list(ctx, trust.EnvironmentRole(environment))
	if err != nil {
		return nil, err
	}
	for _, target := range list {
		ref, err := control.ParseTarget(target.Name)
		if err != nil || ref.Kind != kind {
			continue
		}
		if _, given := out[ref.Name]; given {
			continue
		}
		doc, err := r.readDocument(ctx, ref, target)
		if err != nil {
			return nil, err
		}
		if one, ok := doc.(T); ok {
			out[ref.Name] = one
		}
	}
	return out, nil
}

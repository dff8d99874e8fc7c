package repository

import (
	"context"
	"fmt"
	"slices"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// PutDocuments declares documents, all in one publication. It writes nothing if
// they are declared already, exactly so.
func (r *Repository) PutDocuments(ctx context.Context, s trust.Signing, docs ...control.Declared) (changed bool, err error) {
	targets := make([]trust.TargetInfo, len(docs))
	contents := make([][]byte, len(docs))
	for i, doc := range docs {
		contents[i], err = control.Encode(doc)
		if err != nil {
			return false, fmt.Errorf("declare %s: %w", doc.Ref(), err)
		}
		targets[i] = trust.Describe(doc.Ref().Target(), contents[i], nil)
	}
	changed, err = r.transact(ctx, s, func(view *view) (*change, error) {
		c := &change{top: view.v.Top(), roles: map[string][]trust.TargetInfo{}}
		for i, doc := range docs {
			if err := r.planPut(ctx, view, s, c, doc, targets[i], contents[i]); err != nil {
				return nil, err
			}
		}
		if len(c.roles) > 0 {
			if err := r.refuseConflicts(ctx, view, docs); err != nil {
				return nil, err
			}
		}
		return c.orNothing(), nil
	})
	if err != nil {
		return false, fmt.Errorf("declare documents: %w", err)
	}
	return changed, nil
}

func (r *Repository) planPut(ctx context.Context, view *view, s trust.Signing, c *change, doc control.Declared, target trust.TargetInfo, content []byte) error {
	role := trust.EnvironmentRole(doc.Ref().Environment)
	list, err := c.list(ctx, view, role)
	if err != nil {
		return err
	}
	at, found := find(list, target.Name)
	if found && list[at].SHA256 == target.SHA256 {
		return nil
	}
	if err := mayPublish(view, s, role); err != nil {
		return err
	}
	if err := r.putContent(ctx, target, content); err != nil {
		return err
	}
	if found {
		list[at] = target
	} else {
		list = append(list, target)
	}
	if len(list) > maxDocuments {
		return fmt.Errorf("environment %s has %d documents, more than %d", doc.Ref().Environment, len(list), maxDocuments)
	}
	c.roles[role] = list
	return nil
}

// RemoveDocuments withdraws documents, all in one publication. Documents that are
// not declared are no error. Their content stays in the store: deleting it could hit
// somebody who declares the same again at this moment.
func (r *Repository) RemoveDocuments(ctx context.Context, s trust.Signing, refs ...control.Ref) (changed bool, err error) {
	changed, err = r.transact(ctx, s, func(view *view) (*change, error) {
		c := &change{top: view.v.Top(), roles: map[string][]trust.TargetInfo{}}
		for _, ref := range refs {
			role := trust.EnvironmentRole(ref.Environment)
			list, err := c.list(ctx, view, role)
			if err != nil {
				return nil, err
			}
			if at, found := find(list, ref.Target()); found {
				c.roles[role] = slices.Delete(list, at, at+1)
			}
		}
		return c.orNothing(), nil
	})
	if err != nil {
		return false, fmt.Errorf("withdraw documents: %w", err)
	}
	return changed, nil
}

// Document reads one declared document; [ErrNotFound] if it is not declared.
func (r *Repository) Document(ctx context.Context, ref control.Ref) (control.Declared, error) {
	view, err := r.load(ctx)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", ref, err)
	}
	list, err := view.list(ctx, trust.EnvironmentRole(ref.Environment))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", ref, err)
	}
	for _, target := range list {
		if target.Name == ref.Target() {
			return r.readDocument(ctx, ref, target)
		}
	}
	return nil, fmt.Errorf("read %s: %w", ref, ErrNotFound)
}

func (r *Repository) readDocument(ctx context.Context, ref control.Ref, target trust.Target) (control.Declared, error) {
	if target.Length > control.MaxDocument {
		return nil, fmt.Errorf("read %s: %w: it has %d bytes", ref, control.ErrMalformed, target.Length)
	}
	verified, err := fetchTarget(ctx, r.store, target)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", ref, err)
	}
	return control.DecodeDeclared(ref, verified.Content())
}

// Documents names the documents that an environment declares.
func (r *Repository) Documents(ctx context.Context, environment string) ([]control.Ref, error) {
	view, err := r.load(ctx)
	if err != nil {
		return nil, fmt.Errorf("list documents: %w", err)
	}
	list, err := view.list(ctx, trust.EnvironmentRole(environment))
	if err != nil {
		return nil, fmt.Errorf("list documents: %w", err)
	}
	refs := make([]control.Ref, len(list))
	for i, target := range list {
		if refs[i], err = control.ParseTarget(target.Name); err != nil {
			return nil, fmt.Errorf("list documents: %w", err)
		}
	}
	return refs, nil
}

// Environment reads all that an environment declares, in one verified reading. The
// state has no channel and no revision. Expiry is in the state and not judged.
func (r *Repository) Environment(ctx context.Context, environment string) (*State, error) {
	view, err := r.load(ctx)
	if err != nil {
		return nil, fmt.Errorf("read environment %s: %w", environment, err)
	}
	if _, err := view.list(ctx, trust.EnvironmentRole(environment)); err != nil {
		return nil, fmt.Errorf("read environment %s: %w", environment, err)
	}
	state, err := stateOf(view.v, environment, "", func(target trust.Target) (trust.Verified, error) { return fetchTarget(ctx, r.store, target) })
	if err != nil {
		return nil, fmt.Errorf("read environment %s: %w", environment, err)
	}
	return state, nil
}

// list is a role's list with what the change did to it so far.
func (c *change) list(ctx context.Context, view *view, role string) ([]trust.TargetInfo, error) {
	if list, ok := c.roles[role]; ok {
		return list, nil
	}
	targets, err := view.list(ctx, role)
	return infos(targets), err
}

func (c *change) orNothing() *change {
	if len(c.roles) == 0 {
		return nil
	}
	return c
}

func find(list []trust.TargetInfo, name string) (int, bool) {
	at := slices.IndexFunc(list, func(t trust.TargetInfo) bool { return t.Name == name })
	return at, at >= 0
}

// mayPublish shows missing keys before anything is uploaded.
func mayPublish(view *view, s trust.Signing, role string) error {
	d, _ := view.v.Delegation(role)
	top := view.v.Top()
	for name, spec := range map[string]trust.RoleSpec{role: d.RoleSpec, trust.RoleSnapshot: top.Snapshot, trust.RoleTimestamp: top.Timestamp} {
		if !s.Suffices(spec) {
			return fmt.Errorf("sign %s: %w: %d of the role's %d keys must sign", name, trust.ErrKeyMissing, spec.Threshold, len(spec.Keys))
		}
	}
	return nil
}

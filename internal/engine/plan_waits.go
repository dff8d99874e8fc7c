package engine

import (
	"github.com/towline/terraform-provider-towline/internal/addrs"
)

// upstream tells which data has to wait for the apply because something that it
// depends on is to be changed. It is asked about declarations, as changes in any
// instance of a module count.
type upstream struct {
	// changing are the managed resources with a change; dirty are objects found to
	// depend on one of them.
	changing, dirty map[*object]bool
	// clean are objects that depend on no change, and how many resources had one when
	// that was found: it holds until there are more.
	clean map[*object]int
}

func newUpstream() upstream {
	return upstream{map[*object]bool{}, map[*object]bool{}, map[*object]int{}}
}

// dependencyPending tells whether a data source has to be read while applying, even
// though its configuration is known: if a managed resource that it names is to be
// changed, or one that depends_on leads to, of the data source or of a module call
// around it. Data with conditions waits for all that it depends on, which may be what
// the conditions are about.
func (p *planner) dependencyPending(inst *instance) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	o, u := inst.object, &p.upstream
	if len(u.changing) == 0 {
		return false
	}
	if len(o.resource.Lifecycle.Preconditions)+len(o.resource.Lifecycle.Postconditions) > 0 && u.below(o) {
		return true
	}
	for _, refs := range [][]ref{o.refs, o.repeatRefs} {
		for _, r := range refs {
			if u.changing[r.target] {
				return true
			}
		}
	}
	for _, r := range o.after {
		if u.changing[r.target] || !r.isResource() && u.named(r) {
			return true
		}
	}
	for call := o.mod.call; call != nil; call = call.mod.call {
		for _, r := range call.after {
			if u.changing[r.target] || u.named(r) {
				return true
			}
		}
	}
	return false
}

// managedAmong are the references to managed resources.
func managedAmong(refs []ref) []ref {
	var out []ref
	for _, r := range refs {
		if r.isResource() && r.target.resource.Addr.Mode == addrs.Managed {
			out = append(out, r)
		}
	}
	return out
}

func (r ref) isResource() bool { return r.target != nil && r.target.kind == kindResource }

// named tells whether what depends_on names depends on a change, or holds one.
func (u *upstream) named(r ref) bool {
	switch {
	case r.target == nil:
		return false
	case r.target.kind != kindCall || r.target.child == nil:
		return u.below(r.target)
	}
	found := u.below(r.target)
	r.target.child.eachInside(func(o *object) { found = found || u.changing[o] || u.below(o) })
	return found
}

// below tells whether an object depends on a change.
func (u *upstream) below(o *object) bool {
	if u.dirty[o] {
		return true
	}
	if n, known := u.clean[o]; known && n == len(u.changing) {
		return false
	}
	u.clean[o] = len(u.changing) // also ends circles through module calls
	found := false
	o.needs(func(need *object) { found = found || u.changing[need] || u.below(need) })
	if found {
		u.dirty[o] = true
		delete(u.clean, o)
	}
	return found
}

// notePending notes that a resource changes; guarded by mu.
func (u *upstream) notePending(o *object) {
	if o.resource.Addr.Mode == addrs.Managed {
		u.changing[o] = true
	}
}

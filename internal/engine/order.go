package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// sortObjects orders objects so that each follows what it needs, and returns those
// that need each other in circles, for which there is no order. It keeps a stack of
// its own: chains are long.
func sortObjects(objects []*object) (order []*object, cycles [][]*object) {
	const (
		unseen = iota
		open
		closed
	)
	mark := make([]uint8, len(objects))
	type frame struct {
		o     *object
		needs []*object
	}
	collect := func(o *object) []*object {
		var needs []*object
		o.needs(func(n *object) { needs = append(needs, n) })
		return needs
	}
	circular := false
	order = make([]*object, 0, len(objects))
	for _, start := range objects {
		if mark[start.id] != unseen {
			continue
		}
		mark[start.id] = open
		stack := []frame{{start, collect(start)}}
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if len(top.needs) == 0 {
				mark[top.o.id] = closed
				order = append(order, top.o)
				stack = stack[:len(stack)-1]
				continue
			}
			next := top.needs[0]
			top.needs = top.needs[1:]
			switch mark[next.id] {
			case unseen:
				mark[next.id] = open
				stack = append(stack, frame{next, collect(next)})
			case open:
				circular = true
			}
		}
	}
	if circular {
		return nil, circles(order)
	}
	return order, nil
}

// circles finds all sets of objects that need each other, each as large as it can
// be, in an order in which every object ended after what it needs but for circles.
// What an object reaches against the direction of needs, among those that ended
// before it and belong to no other set, also reaches it.
func circles(ended []*object) (cycles [][]*object) {
	dependents := make(map[*object][]*object, len(ended))
	for _, o := range ended {
		o.needs(func(need *object) { dependents[need] = append(dependents[need], o) })
	}
	seen := map[*object]bool{}
	for _, start := range slices.Backward(ended) {
		if seen[start] {
			continue
		}
		seen[start] = true
		set := []*object{start}
		for i := 0; i < len(set); i++ {
			for _, o := range dependents[set[i]] {
				if !seen[o] {
					seen[o] = true
					set = append(set, o)
				}
			}
		}
		if len(set) > 1 || slices.Contains(dependents[start], start) {
			cycles = append(cycles, set)
		}
	}
	return cycles
}

// longestPaths gives each object the length of the longest path from it on,
// through all that waits for it, in units of [cost].
func (p *program) longestPaths(estimate func(*object) time.Duration) []int {
	out := make([]int, len(p.objects))
	for _, o := range slices.Backward(p.order) {
		own := 1
		if o.kind == kindResource {
			own += cost(estimate(o))
		}
		out[o.id] += own
		o.needs(func(need *object) { out[need.id] = max(out[need.id], out[o.id]) })
	}
	return out
}

// propagateCreateFirst makes what a create-before-destroy resource needs
// create-before-destroy as well: otherwise the old object would outlive what it uses.
func propagateCreateFirst(order []*object) {
	wants := map[*object]bool{}
	for _, o := range slices.Backward(order) {
		if o.createFirst {
			wants[o] = true
		}
		if !wants[o] {
			continue
		}
		if o.kind == kindResource {
			o.createFirst = true
		}
		o.needs(func(need *object) {
			if need.kind != kindProvider {
				wants[need] = true
			}
		})
	}
}

// circularity says which objects need each other.
func circularity(cycles [][]*object) (diags tfdiags.Diagnostics) {
	for _, cycle := range cycles {
		if only := cycle[0]; len(cycle) == 1 && only.kind == kindLocal {
			at := slices.IndexFunc(only.refs, func(r ref) bool { return r.target == only })
			diags = append(diags, tfdiags.At(only.refs[at].Range, "Self-referencing local value",
				fmt.Sprintf("The value of %s is needed to compute it. Refer to something else, or give the value another name.", only))...)
			continue
		}
		names := make([]string, len(cycle))
		for i, o := range cycle {
			names[i] = o.String()
		}
		slices.Sort(names)
		diags = append(diags, tfdiags.New(tfdiags.Error, "Cycle: "+strings.Join(names, ", "),
			"Each of these objects needs another of them first. Break the cycle by removing one of the references.")...)
	}
	return diags
}

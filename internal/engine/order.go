package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// sortObjects orders objects so that each follows what it needs, or returns the
// members of one cycle. It keeps a stack of its own: chains are long.
func sortObjects(objects []*object) (order, cycle []*object) {
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
				for i := len(stack) - 1; ; i-- {
					cycle = append(cycle, stack[i].o)
					if stack[i].o == next {
						return nil, cycle
					}
				}
			}
		}
	}
	return order, nil
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

func cycleDiagnostic(cycle []*object) tfdiags.Diagnostics {
	names := make([]string, len(cycle))
	for i, o := range cycle {
		names[len(cycle)-1-i] = o.String()
	}
	return tfdiags.New(tfdiags.Error, "Cycle",
		fmt.Sprintf("These objects wait for each other: %s. Break the cycle by removing one of the references.", strings.Join(names, ", ")))
}

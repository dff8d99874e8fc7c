package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/states"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// move is a declared or implied change of address. It speaks of every instance
// of the module that declares it.
type move struct {
	from, to moveEnd
	// declared is the length of the declaring module's path, with which both ends begin.
	declared int
	// implied tells that no block declares it.
	implied bool
	at      hcl.Range
}

// moveEnd is one end of a move as a pattern of addresses.
type moveEnd struct {
	modules []moveStep
	// resource is the zero value if the end is a module.
	resource addrs.Resource
	key      addrs.InstanceKey
	anyKey   bool
	// text names the end for people.
	text string
}

// moveStep is one module step of a pattern.
type moveStep struct {
	name string
	key  addrs.InstanceKey
	any  bool
}

func (s moveStep) overlaps(other moveStep) bool {
	return s.name == other.name && (s.any || other.any || s.key == other.key)
}

func (e moveEnd) isModule() bool { return e.resource == addrs.Resource{} }

// overlaps tells whether two ends may name the same object.
func (e moveEnd) overlaps(other moveEnd) bool {
	return e.resource == other.resource && (e.anyKey || other.anyKey || e.key == other.key) &&
		slices.EqualFunc(e.modules, other.modules, moveStep.overlaps)
}

// within tells whether e names something inside of what outer names.
func (e moveEnd) within(outer moveEnd) bool {
	if !outer.isModule() {
		return outer.anyKey && !e.anyKey && e.overlaps(outer)
	}
	if len(e.modules) < len(outer.modules) || (len(e.modules) == len(outer.modules) && e.isModule()) {
		return false
	}
	return slices.EqualFunc(e.modules[:len(outer.modules)], outer.modules, moveStep.overlaps)
}

// after tells whether m must be made after other: it goes on from where other
// ends, speaks of the inside of it, or of the outside of where other begins.
func (m *move) after(other *move) bool {
	return m.from.overlaps(other.to) || m.from.within(other.to) || m.to.within(other.to) ||
		other.from.within(m.from) || other.to.within(m.from)
}

// declaredMoves collects the moved blocks of all modules.
func declaredMoves(config *configs.Config) []*move {
	var out []*move
	for _, decl := range config.Module.Moved {
		out = append(out, newMove(config.Path, decl.From, decl.To, decl.Range))
	}
	for _, name := range sortedNames(config.Children) {
		out = append(out, declaredMoves(config.Children[name])...)
	}
	return out
}

func newMove(module addrs.Module, from, to addrs.Target, at hcl.Range) *move {
	// Two addresses without a key mean all instances, with their keys.
	whole := !from.HasKey && !to.HasKey
	if from.Resource == (addrs.Resource{}) {
		whole = from.Module[len(from.Module)-1].Key == addrs.NoKey && to.Module[len(to.Module)-1].Key == addrs.NoKey
	}
	return &move{from: newMoveEnd(module, from, whole), to: newMoveEnd(module, to, whole), declared: len(module), at: at}
}

func newMoveEnd(module addrs.Module, target addrs.Target, whole bool) moveEnd {
	e := moveEnd{resource: target.Resource, key: target.Key, text: target.String()}
	for _, name := range module {
		e.modules = append(e.modules, moveStep{name: name, any: true})
	}
	for _, step := range target.Module {
		e.modules = append(e.modules, moveStep{name: step.Name, key: step.Key})
	}
	if len(module) > 0 {
		e.text = module.String() + "." + e.text
	}
	if e.isModule() {
		e.modules[len(e.modules)-1].any = whole
	} else {
		e.anyKey = whole
	}
	return e
}

// impliedMoves are those of resources to or from which count was added or
// removed: the object without a key is number 0 and the reverse. Whatever a block
// speaks of is left to it.
func impliedMoves(prog *program, prior *states.State, declared []*move) []*move {
	var out []*move
	for _, r := range prior.Resources() {
		o := prog.find(r)
		if o == nil || r.Addr.Mode != addrs.Managed || o.resource.ForEach != nil {
			continue
		}
		from, to := addrs.NoKey, addrs.IntKey(0)
		if o.resource.Count == nil {
			from, to = to, from
		}
		if r.Instances[from] == nil || r.Instances[to] != nil || anySpeaksOf(declared, r) {
			continue
		}
		source := addrs.Target{Module: r.Module, Resource: r.Addr, Key: from, HasKey: true}
		target := addrs.Target{Module: r.Module, Resource: r.Addr, Key: to, HasKey: true}
		m := newMove(nil, source, target, o.resource.Range)
		m.implied = true
		out = append(out, m)
	}
	return out
}

// anySpeaksOf tells whether a declared move names a recorded resource at either end.
func anySpeaksOf(declared []*move, r *states.Resource) bool {
	whole := moveEnd{resource: r.Addr, anyKey: true}
	for _, step := range r.Module {
		whole.modules = append(whole.modules, moveStep{name: step.Name, key: step.Key})
	}
	return slices.ContainsFunc(declared, func(m *move) bool {
		return m.from.overlaps(whole) || m.to.overlaps(whole) || whole.within(m.from) || whole.within(m.to)
	})
}

// relatedMoves finds, for each move, those whose order may matter to it: of
// resources those that name the same resource, of modules all.
func relatedMoves(moves []*move) func(int) []int {
	var all, ofModules []int
	byResource := map[string][]int{}
	for i, m := range moves {
		all = append(all, i)
		if m.from.isModule() {
			ofModules = append(ofModules, i)
			continue
		}
		for _, end := range []moveEnd{m.from, m.to} {
			byResource[end.config()] = append(byResource[end.config()], i)
		}
	}
	return func(i int) []int {
		if moves[i].from.isModule() {
			return all
		}
		out := slices.Concat(ofModules, byResource[moves[i].from.config()], byResource[moves[i].to.config()])
		slices.Sort(out)
		return slices.Compact(out)
	}
}

// orderMoves puts moves into the order in which they are made, or says which of
// them contradict each other.
func orderMoves(moves []*move) ([]*move, tfdiags.Diagnostics) {
	waits := make([]int, len(moves)) // how many moves each still waits for
	next := make([][]int, len(moves))
	related := relatedMoves(moves)
	for i, m := range moves {
		for _, j := range related(i) {
			if i != j && m.after(moves[j]) {
				waits[i]++
				next[j] = append(next[j], i)
			}
		}
	}
	var ready []int
	for i := range moves {
		if waits[i] == 0 {
			ready = append(ready, i)
		}
	}
	out := make([]*move, 0, len(moves))
	for ; len(ready) > 0; ready = ready[1:] {
		out = append(out, moves[ready[0]])
		for _, i := range next[ready[0]] {
			if waits[i]--; waits[i] == 0 {
				ready = append(ready, i)
			}
		}
	}
	if len(out) == len(moves) {
		return out, nil
	}
	var names []string
	for i, m := range moves {
		if waits[i] > 0 {
			names = append(names, fmt.Sprintf("%s to %s (%s:%d)", m.from.text, m.to.text, m.at.Filename, m.at.Start.Line))
		}
	}
	return nil, tfdiags.New(tfdiags.Error, "Cyclic dependency in move statements",
		fmt.Sprintf("These moved blocks lead in a circle, so that nothing says where objects end up: %s. A chain of moves must end at an address from which nothing moves on.", strings.Join(names, "; ")))
}

// checkMoves refuses moves that say nothing or contradict each other.
func checkMoves(declared []*move) tfdiags.Diagnostics {
	var diags tfdiags.Diagnostics
	byFrom, byTo := map[string]*move{}, map[string]*move{}
	for _, m := range declared {
		if m.from.text == m.to.text {
			diags = append(diags, tfdiags.At(m.at, "Redundant move statement",
				fmt.Sprintf("This block moves %s to its own address, which changes nothing. Remove the block.", m.from.text))...)
			continue
		}
		if other := byFrom[m.from.text]; other != nil && other.to.text != m.to.text {
			diags = append(diags, tfdiags.At(m.at, "Ambiguous move statements",
				fmt.Sprintf("The block at %s moves %s to %s, and this one moves it to %s. An object can go to one address only: remove one of the blocks.", other.at, m.from.text, other.to.text, m.to.text))...)
		}
		if other := byTo[m.to.text]; other != nil && other.from.text != m.from.text {
			diags = append(diags, tfdiags.At(m.at, "Ambiguous move statements",
				fmt.Sprintf("The block at %s moves %s to %s, and this one moves %s there. An address can hold one object only: remove one of the blocks.", other.at, other.from.text, m.to.text, m.from.text))...)
		}
		byFrom[m.from.text], byTo[m.to.text] = m, m
	}
	return diags
}

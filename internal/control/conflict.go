package control

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Conflict is an overlap of scopes that different agents hold: both would write
// the same attribute.
type Conflict struct {
	// Agents and Scopes are in the same order.
	Agents, Scopes [2]string
	// Example is an address, with a path where attributes are told apart.
	Example string
}

// Error says what overlaps and what to do.
func (c Conflict) Error() string {
	if c.Scopes[0] == c.Scopes[1] {
		return fmt.Sprintf("the agents %s and %s both hold the scope %s, but not all scopes of each other: two agents write the same objects only as stand-ins for each other, with the same scopes and in the same shard. Give both the same scopes and shard, or the scope to one of them",
			c.Agents[0], c.Agents[1], c.Scopes[0])
	}
	return fmt.Sprintf("the scope %s of agent %s and the scope %s of agent %s overlap: both include %s. Exclude it from one of them, or let each own other attributes of it",
		c.Scopes[0], c.Agents[0], c.Scopes[1], c.Agents[1], c.Example)
}

// Conflicts lists the overlaps between the scopes of different agents. Agents with
// the same scopes stand in for each other and do not conflict. Scopes that are
// named and not declared count for nothing.
func Conflicts(agents []Agent, scopes map[string]Scope) []Conflict {
	byHolding := map[string]Agent{}
	for _, agent := range slices.SortedFunc(slices.Values(agents), func(a, b Agent) int { return strings.Compare(a.Name, b.Name) }) {
		holding := holdingOf(agent)
		if _, ok := byHolding[holding]; !ok {
			byHolding[holding] = agent
		}
	}
	holders := slices.SortedFunc(maps.Values(byHolding), func(a, b Agent) int { return strings.Compare(a.Name, b.Name) })
	var out []Conflict
	for i, a := range holders {
		for _, b := range holders[i+1:] {
			out = append(out, conflictsOf(a, b, scopes)...)
		}
	}
	return out
}

// StandIns tells whether two agents stand in for each other: they are of one shard and
// hold the same scopes.
func StandIns(a, b Agent) bool { return holdingOf(a) == holdingOf(b) }

func holdingOf(agent Agent) string {
	return agent.Shard + ":" + strings.Join(slices.Sorted(slices.Values(agent.Scopes)), " ")
}

func conflictsOf(a, b Agent, scopes map[string]Scope) []Conflict {
	var out []Conflict
	for _, nameA := range a.Scopes {
		for _, nameB := range b.Scopes {
			scopeA, okA := scopes[nameA]
			scopeB, okB := scopes[nameB]
			if !okA || !okB {
				continue
			}
			conflict := Conflict{Agents: [2]string{a.Name, b.Name}, Scopes: [2]string{nameA, nameB}}
			overlaps := nameA == nameB
			if !overlaps {
				conflict.Example, overlaps = Overlap(scopeA, scopeB)
			}
			if overlaps {
				out = append(out, conflict)
			}
		}
	}
	return out
}

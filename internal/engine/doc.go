// Package engine runs the Terraform language: it compiles a static module tree
// into a program of objects and references, walks it concurrently against
// recorded state and providers, and plans, applies and destroys.
//
// A walk has one node for each thing that can be evaluated or done. Provider
// calls and evaluation have limits of their own, so that neither waits for the
// other; cost grows with instances and references, and no step looks at all
// instances or copies a whole state.
//
// It is not for reading files (configs), starting provider processes (plugin),
// deciding what may be applied (guard) or keeping state anywhere (its caller).
//
// Start with [Engine.Plan] and [Engine.Apply].
package engine

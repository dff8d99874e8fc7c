// Package backend keeps the states of workspaces where a configuration's backend
// block says, as terraform keeps them there: same places, same locks, so that
// both programs can share a state and exclude each other.
//
// It is not for what a state means (package states), nor for the agent's state,
// which lives in the repository's store. Backends other than local and s3 are
// refused by name.
//
// Start with [Decode] and [Open]. It may import bounds and tfdiags.
package backend

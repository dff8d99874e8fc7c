// Package plans models what would be changed: the change of each resource
// instance and output, what was found to have drifted, and the state that the
// plan starts from.
//
// It is not for making plans (package engine) or judging them (package guard).
// planfile keeps a plan on disk, planjson prints Terraform's plan JSON, render
// prints for people.
//
// Start with [Plan]. It may import states, providers, addrs and tfdiags.
package plans

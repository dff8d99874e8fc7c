// Package policy asks Rego policies about a plan, as conftest does: rules called
// deny, violation and warn, over Terraform's plan JSON.
//
// It is not for what an agent may touch (package guard), nor for reading policies
// from disk or a repository; it does no I/O, and neither can a policy.
//
// Start with [Compile]. It may import tfdiags and the Open Policy Agent.
package policy

// Package guard decides whether a plan may be applied: scopes, limits, drift
// policy and break-glass grants, as pure functions of plan, documents and now.
//
// It is not for planning, for verifying signatures (package control) or for I/O.
//
// Start with [Approved], which is the only thing that the engine applies. It may
// import plans, control, addrs and tfdiags.
package guard

// Package lang is the expression side of the Terraform language: what an
// expression refers to, as precisely as its syntax tells, and the functions that
// it may call.
//
// It is not for finding values: the engine puts them into evaluation contexts.
// It does not import configs.
//
// Start with [ExprRefs] and [Functions]. It may import addrs and tfdiags.
package lang

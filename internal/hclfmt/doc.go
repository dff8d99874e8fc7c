// Package hclfmt gives configuration the form that terraform fmt gives it: layout,
// and the newer of two ways to write types, labels and single interpolations.
//
// It is not for checking configuration: source with a syntax error is returned as it is.
//
// Start with [Format]. It imports no other package of this module.
package hclfmt

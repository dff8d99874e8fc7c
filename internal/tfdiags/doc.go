// Package tfdiags is the vocabulary in which Towline tells a user about
// problems: severity, fixed summary, detail with what, why and what to do, the
// source range and the address concerned.
//
// It is not for errors that only code acts on (those are ordinary errors), and
// it knows nothing of Terraform's objects: addresses arrive here as text.
//
// Start with [Diagnostics]. It imports no other package of this module.
package tfdiags

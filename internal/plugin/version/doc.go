// Package version is about the versions of providers and the constraints that
// configurations put on them, in the notation of Terraform.
//
// It is not for where versions come from; package install asks for that.
//
// Start with [ParseConstraints]. It may import no other package of this module.
package version

// Package cloudapi is what crosses the wire between the simulated cloud and its
// clients: the objects, the events, the refusals, and the table of kinds with
// their attributes, from which the server validates and the Terraform provider
// builds its schemas.
//
// It is not for storing objects or for HTTP, and does no I/O.
//
// Start with [Kinds]. It imports no other package of this module.
package cloudapi

// Package dag runs a graph of nodes concurrently, each after the nodes it
// depends on. The graph may grow while it runs. Work is divided into classes
// with limits of their own, so that waiting for a remote answer never takes the
// place of computing, and among ready nodes the one with the highest priority
// goes first; what it has to compute before a remote call does not cost it its turn.
//
// It is not for building the graph's meaning: it knows nothing of Terraform. It
// does no I/O and imports no other package of this module.
//
// Start with [Scheduler].
package dag

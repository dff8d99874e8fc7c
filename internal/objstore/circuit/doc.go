// Package circuit keeps a store that takes time and gives nothing from being asked again
// at once: for a while calls fail without asking, so that whoever can go on without the
// store does.
//
// It is not for retries of one call, which the stores make themselves, nor for choosing
// another store.
//
// Start with [New]. It imports only package objstore.
package circuit

// Package trust signs and verifies the repository's metadata, which follows The
// Update Framework (TUF): bytes in, verified values out.
//
// The roles are TUF's four (root, targets, snapshot, timestamp) and one delegated
// role for each environment and each channel. Keys are ed25519, or ECDSA on the curve
// P-256. A [Verifier] is an ordered state machine: root, timestamp, snapshot, targets,
// delegated roles; what it has accepted it remembers, and a refusal changes nothing.
// Each refusal wraps one of this package's errors.
//
// It is not for reading or writing a store (package repository) and does no I/O;
// now is an argument.
//
// Start with [Verifier] and [Verified]. It imports no other package of this module.
package trust

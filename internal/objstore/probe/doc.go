// Package probe finds out whether a store keeps the promises of package objstore: with
// objects of its own below a scratch prefix ([Run]), or by one harmless write over an
// object that is there ([Honours]).
//
// It is not a test suite: objstoretest judges implementations, this package the bucket
// or folder that somebody wants to use, with the rights that somebody has there.
//
// Start with [Run]. It imports only package objstore.
package probe

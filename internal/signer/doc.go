// Package signer opens the signing keys that a text names: in files, in an SSH agent
// and in AWS KMS. There is one notation for all places where keys are named.
//
// Private keys outside of files never come into the process: their keepers sign. No
// error quotes a private key, or a text that may hold one.
//
// It is not for deciding which keys may sign what (package trust).
//
// Start with [Open]. It imports trust.
package signer

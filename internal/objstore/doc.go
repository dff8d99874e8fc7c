// Package objstore is the object storage through which parties talk: a bucket
// and prefix with a few small verbs, and create-if-absent as the one primitive
// that coordination rests on.
//
// It is not for deciding what is stored under which key (package control), nor
// for trusting what is read (package trust). Implementations live below this
// package: s3, gcs, azblob, file, mem; objstoretest is the conformance suite that each
// passes, and probe finds out whether a user's bucket would.
//
// Start with [Store]. It imports no other package of this module.
package objstore

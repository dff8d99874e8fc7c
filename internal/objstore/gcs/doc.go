// Package gcs is an object store in a bucket of Google Cloud Storage. Conditions are
// on generations, which Cloud Storage numbers every write with.
//
// Credentials are Google's application default credentials; STORAGE_EMULATOR_HOST is
// honoured.
//
// It is not for the S3-compatible API of Cloud Storage, whose conditions are not S3's.
//
// Start with [Open]. It imports package objstore and objstore/remote.
package gcs

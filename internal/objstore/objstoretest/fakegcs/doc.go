// Package fakegcs starts a server of Google Cloud Storage's API that keeps objects in
// memory, for tests. It is built from the module in tools/ into bin/.
//
// It is not for production, and the shipped binaries do not link it.
//
// Start with [Start]. It imports objstoretest/process.
package fakegcs

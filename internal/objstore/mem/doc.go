// Package mem is an object store in this process's memory, the default store of tests.
//
// It is not for production: nothing outlives the process and no other process sees it.
//
// Start with [New]. It imports only package objstore.
package mem

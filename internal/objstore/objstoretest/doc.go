// Package objstoretest is the conformance suite that every object store must
// pass: each verb, each error, and races between goroutines and between processes.
//
// It is not for testing what is kept in a store. A package that calls [Run] with
// a URL must call [Main] from its TestMain, since the suite starts the test
// binary again as the other processes of a race. Stores behind a server also run
// [RunFaults], through a [Proxy] that does harm. [Faulty] wraps a store for tests
// of its users.
//
// Start with [Run]. It imports objstore and objstore/open.
package objstoretest

// Package versitygw starts a real S3 server, the Versity gateway over a folder,
// for tests and demonstrations. It is built from the module in tools/ into bin/.
//
// It is not for production, and the shipped binaries do not link it.
//
// Start with [Start]. It imports objstoretest/process.
package versitygw

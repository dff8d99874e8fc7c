// Package moto starts moto's server, a mock of AWS, for tests: a second server of S3's
// API, which knows conditions but does not keep them when writers race.
//
// It is not for production, nor for the other services that moto mocks.
//
// Start with [Start]. It imports objstoretest/process and objstoretest/versitygw.
package moto

// Package simcloud is a small simulated cloud over HTTP: six kinds of object in
// namespaces ENVIRONMENT/SERVICE, tokens limited to namespaces, a log of every
// write, and latency, rate limits and failures on demand. Demonstrations, tests
// and benchmarks run against it where a real cloud would cost an account.
//
// It is not a test double inside a process: it is a server with its own state,
// which people and programs may change behind a reconciler's back. It is not for
// secrets that matter; its data file holds them in clear text.
//
// Start with [New]. It imports only package cloudapi below it.
package simcloud

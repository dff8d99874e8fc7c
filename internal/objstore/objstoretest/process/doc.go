// Package process builds and starts the server programs that tests talk to, and ends
// them with the tests.
//
// It is not for production, and knows none of the servers.
//
// Start with [Start]. It imports no other package of this module.
package process

// Package registrytest is a registry of modules and providers on this machine, for
// tests: service discovery, both protocols, a network mirror and plain archives, over
// TLS with a certificate of its own, with packages signed by a key of its own.
//
// It is not for production. Start with [New]. It imports no other package of this module.
package registrytest

// Package registry asks registries of modules and providers, as terraform does: it
// finds out where a host's services are and speaks their protocols, within bounds.
//
// It is not for installing what it finds (packages modules and plugin/install), nor
// for choosing versions. It trusts no answer: whoever downloads checks what came.
//
// Start with [New]. It may import addrs and bounds.
package registry

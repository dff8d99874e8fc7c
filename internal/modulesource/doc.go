// Package modulesource reads the addresses that module blocks name as their
// source: paths, modules of a registry, and packages elsewhere.
//
// It is not for fetching anything: that is package modules, which works with
// what stands here, as package configs does when it checks a configuration.
//
// Start with [Parse]. It imports no other package of this module.
package modulesource

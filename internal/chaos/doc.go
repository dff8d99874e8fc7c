// Package chaos runs real agents and does to them, again and again, what may happen
// to them: it ends them at a chosen point, fills their disk, cuts and spoils their way
// to the store and to the cloud, ends and stops their providers. After each fault the
// agents must converge, and everything that must never break is checked against
// the cloud's own log and the store.
//
// A seed chooses everything, so that what was found can be found again. Points are
// counted from outside, by the calls that pass the harness's relays and by what the
// journal's file holds; agents are the shipped program and know nothing of it.
//
// It is not for use by anything that ships, and proves nothing about single steps:
// the model in package lease and the tests of each package do.
//
// Start with [Run]. It may import everything but package engine and what only the
// engine needs.
package chaos

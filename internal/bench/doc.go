// Package bench measures what docs/internals/performance.md promises: terraform
// and towline in turn on the same inputs, several runs, medians and ratios, and
// peak memory by the operating system's account.
//
// It is not for day-to-day work on one function: Go benchmarks beside the code
// are. It is no test either: how long something takes on a busy machine is no
// reason to refuse a change, so only `make bench` asserts ratios. Nothing that
// ships imports it.
//
// Start with [Run]. It may import everything but package provider.
package bench

// Package lease decides who may write for an environment: one holder at a time,
// with an epoch that only rises.
//
// An epoch is a create-only object, so of many who want the next epoch one gets
// it. Whoever holds a higher epoch fences all lower ones: a holder asks [Lease.Check]
// before and after it writes, and everything it writes carries its epoch in the
// key, so that what a fenced holder still writes can be told apart and is ignored.
// Epochs have no gaps and their objects are never removed while the environment
// lives: [Lease.Check] looks at the next epoch only. In S3 it needs the permission
// to list the prefix, without which absence cannot be told from refusal.
//
// It is not for knowing whether a holder is alive: taking over is a decision of
// the caller, who knows heartbeats.
//
// Start with [Acquire]. It imports control and objstore.
package lease

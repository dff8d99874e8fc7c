// Package states models what is recorded of real objects and reads and writes
// it as Terraform's state file, version 4.
//
// It is not for provider schemas: an object's attributes stay JSON until the
// engine, which knows the schema, decodes them once (see [Object.Decoded]). It
// does not decide where a state is kept.
//
// Start with [State], [Decode] and [Write]. It may import addrs and tfdiags.
package states

// Package bounds reads what others wrote within bounds: files without waiting or
// end, and source text whose nesting would exhaust the stack of a recursive parser,
// which ends the whole process.
//
// It is not for checking that a text is right; the parsers do that.
//
// Start with [HCL]. It imports nothing of this module.
package bounds

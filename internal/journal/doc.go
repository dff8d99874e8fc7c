// Package journal makes durable what is about to be changed and what came of
// it: an intent before every provider call that changes something, its result
// after. A process that dies in between leaves a journal from which its
// successor knows every finished call and every unfinished one.
//
// It is not for the state as a whole (states) and does not call providers; the
// engine settles unfinished intents by reading real objects.
//
// Start with [Open]. It may import states, addrs and tfdiags.
package journal

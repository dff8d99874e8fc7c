// Package objchange holds the rules on the objects that pass between Towline
// and a provider: what is proposed to it, which plan and which result it may
// answer with, and how answers of old SDKs are put right.
//
// It is not for deciding actions or for talking to providers; it compares
// values and does no I/O. All values must conform to the schema's implied type.
//
// Start with [ProposedNew]. It may import providers.
package objchange

// Package seal encrypts what leaves an agent's machine with values in it, so that only
// its recipients can read it: agents and people by age and SSH keys, and whoever may use
// a key of AWS KMS. The format is age's (age-encryption.org/v1).
//
// It is not for signatures: who wrote something is the business of package control, and
// what is sealed is signed afterwards. It chooses no recipients.
//
// It may import package control, which reads recipients. Start with [Seal].
package seal

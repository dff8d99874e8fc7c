// Package sops reads files that SOPS has encrypted (JSON, YAML and dotenv, to age and SSH
// keys and to AWS KMS), as its documentation describes them, and verifies their MAC. What
// comes out exists in memory only.
//
// It is not for writing such files, which people do with SOPS, nor for its other services
// that keep keys: an agent has no credentials for them.
//
// It may import packages bounds and control. Start with [Decrypt].
package sops

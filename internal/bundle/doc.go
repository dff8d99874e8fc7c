// Package bundle packs a Terraform root module into a revision's archive and
// unpacks it again, within limits.
//
// An archive is a tar in zstd, made so that equal files give equal bytes: paths in
// order, no times, no owners. What must never travel (states, .terraform, version
// control) is left out when packing and refused when unpacking.
//
// It is not for judging the configuration, nor for finding modules outside the
// packed folder. It unpacks only what package trust verified.
//
// Start with [Pack] and [Unpack]. It imports package trust.
package bundle

// Package lockfile reads and writes dependency lock files (.terraform.lock.hcl)
// byte for byte as Terraform does.
//
// It is not for choosing versions or checking packages; package install does.
//
// Start with [Read]. It may import addrs, tfdiags and version.
package lockfile

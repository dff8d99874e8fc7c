// Package cliconfig reads Terraform's CLI configuration (TF_CLI_CONFIG_FILE,
// ~/.terraformrc and ~/.terraform.d) as far as it says where providers come from.
//
// It is not for looking into those places; package install does. Settings about
// other things, such as credentials, are passed over.
//
// Start with [Load]. It may import addrs and tfdiags.
package cliconfig

// Package addrs names Terraform objects: modules and their instances, resources
// and their instances, provider configurations. Addresses are immutable values;
// all but those with a module path are comparable with ==.
//
// It is not for looking anything up, and it does not parse expressions; package
// lang turns traversals inside expressions into references. The engine uses
// addresses at its borders only and small integers inside.
//
// Start with [ResourceInstance]. It may import tfdiags.
package addrs

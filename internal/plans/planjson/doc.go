// Package planjson writes plans and states as "terraform show -json" does,
// format 1.2 for plans and 1.0 for states, so that programs that read those read
// Towline's.
//
// It is not for people (package render), and its output is not read back: the
// plan file (package planfile) keeps plans. Like Terraform's, the JSON holds
// sensitive values in clear and marks them; who passes it on must mind that.
//
// Start with [Plan]. It may import plans, states, configs, providers, addrs and lang.
package planjson

// Package render prints plans, states and outputs for people, as Terraform 1.11
// does without a terminal: its users read them without surprise, and scripts
// that look for a line find it.
//
// It is not for machines (package planjson), and it says nothing about what to
// do next: the hints around a plan belong to the command that prints them.
//
// A value is first compared into a tree of differences (compare*.go), which
// knows nothing of text, and the tree is then written (write*.go). What is
// sensitive is a mark on the value and is replaced while comparing, so that no
// writer ever holds it.
//
// Start with [Plan]. It may import plans, states, providers, addrs and lang.
package render

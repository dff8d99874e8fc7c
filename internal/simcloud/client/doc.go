// Package client talks to a simulated cloud: the Terraform provider does so on
// behalf of configurations, demonstrations and tests on behalf of the people who
// change things by hand.
//
// It is not for deciding what an object should be, and it repeats only requests
// that the cloud turned away before they had any effect.
//
// Start with [New]. It imports only package cloudapi.
package client

// Package provider is the Terraform provider of the simulated cloud. Its
// resources are made from the table of kinds in package cloudapi, so that the
// cloud and its provider cannot disagree.
//
// It is not for rules about objects (the cloud has them) nor for HTTP (package
// client). It imports packages cloudapi and client.
//
// Start with [NewServer]; the life of an object is in resource.go.
package provider

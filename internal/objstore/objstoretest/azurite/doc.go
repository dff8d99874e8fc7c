// Package azurite starts Azurite, a server of Azure Blob Storage's API, for tests. It
// runs the one that TOWLINE_AZURITE names, or installs the one of tools/azurite with npm
// into the user's cache folder, once.
//
// It is not for production, and the shipped binaries do not contain it.
//
// Start with [Start]. It imports objstoretest/process.
package azurite

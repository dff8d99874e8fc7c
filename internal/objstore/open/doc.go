// Package open opens the store that a URL names. It is apart from package
// objstore so that code with a Store in hand does not link every implementation.
//
// It is not for choosing a store's layout or trusting what it holds.
//
// Start with [Open]. It imports the stores.
package open

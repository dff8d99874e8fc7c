// Package remote is what the stores that are reached over HTTP share: their URLs,
// the bounds of one call and of its retries, and the meaning of answers.
//
// It is not a store, and knows no vendor's API.
//
// Start with [Parse]. It imports only package objstore.
package remote

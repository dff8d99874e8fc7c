// Package azblob is an object store in a container of Azure Blob Storage. Conditions
// are on ETags.
//
// The account is in the URL or AZURE_STORAGE_ACCOUNT. Credentials are a key or a shared
// access signature in AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN, else Azure's default
// credential: environment, workload or managed identity, or the login of az. A URL
// without account and endpoint takes AZURE_STORAGE_CONNECTION_STRING.
//
// It is not for append or page blobs, nor for keys with a segment that ends in a dot,
// which Azure drops.
//
// Start with [Open]. It imports package objstore and objstore/remote.
package azblob

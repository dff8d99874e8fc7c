// Package s3 is an object store in a bucket of Amazon S3 or of a server that
// speaks its API and honours If-None-Match and If-Match on PUT.
//
// Credentials and region come from the SDK's default chain; AWS_ENDPOINT_URL is honoured.
//
// It is not for servers that ignore the conditions: they would break every promise
// that coordination rests on.
//
// Start with [Open]. It imports package objstore and objstore/remote.
package s3

// Package lazyschema holds a message for the answer to GetProviderSchema that
// leaves the schemas as bytes, so that those of 1,500 resource types are kept
// and only those in use are decoded.
//
// It is for package plugin alone. Start with [Response].
package lazyschema

//go:generate protoc -I .. --go_out=.. --go_opt=paths=source_relative lazyschema/lazyschema.proto

// Package tfplugin6 holds the generated messages and client of the provider
// protocol 6.10. The .proto file is the published one; its header says what differs.
//
// It is for package plugin alone. Start with [ProviderClient].
package tfplugin6

//go:generate protoc -I .. --go_out=.. --go_opt=paths=source_relative --go-grpc_out=.. --go-grpc_opt=paths=source_relative tfplugin6/tfplugin6.proto

// Package provider is the Terraform provider with which people declare who may
// change what: repositories, agents, scopes and break-glass policies. It writes
// signed control documents into a store and reads what agents report there.
//
// It is not for planning or applying what agents keep: the published plugin
// never links the engine, and it meets the agent only in package control. It may
// import control, objstore, trust, repository and tfdiags.
//
// Start with [New]; the life of a document is in document_resource.go.
package provider

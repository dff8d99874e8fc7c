// Package configs turns the .tf and .tf.json files of a root module and the
// local modules it calls, and the query files of the root module, into a static
// tree of declarations.
//
// It is not for evaluating expressions, for knowing providers' schemas or for
// fetching anything: bodies and expressions are kept as HCL gives them, and a
// module that is not on disk is an error that says how to get it.
//
// Start with [Load]. It may import addrs, bounds, lang for references, modulesource and
// tfdiags.
package configs

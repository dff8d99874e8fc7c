// Package adopt changes configuration so that it declares what somebody has changed
// by hand: the smallest edit of the text, with comments and layout kept.
//
// It is not for finding drift (package engine) or for deciding about it (package
// guard), and it writes no files. Where the value is not written in the block itself
// it says where it comes from.
//
// Start with [Read] and [Rewrite]. It may import addrs, configs and tfdiags.
package adopt

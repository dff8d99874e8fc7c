// Package file is an object store in a directory, shared by the processes of one
// machine or of one network file system that honours link(2), rename(2) and flock(2).
//
// An object is a plain file under its key. A write goes to a temporary file, is
// synced, and becomes visible by link or rename, so that a crash at any moment
// leaves the old or the new content. What a crashed writer leaves behind lies in
// the folder .towline, which no key can name, and is removed after a while.
//
// It is not for machines that share no file system, nor for deciding what keys mean.
//
// Start with [Open]. It imports only package objstore.
package file

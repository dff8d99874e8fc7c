//go:build !unix

package simcloud

import "os"

// lock does nothing: elsewhere two servers on one data file are the user's to avoid.
func lock(*os.File) error { return nil }

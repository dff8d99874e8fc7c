package bundle

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	// ErrLimit: there is more than the limits allow.
	ErrLimit = errors.New("the revision is larger than allowed")
	// ErrUnsafe: an entry could reach outside the folder, or is of a kind that a
	// revision never holds.
	ErrUnsafe = errors.New("the revision holds an unsafe entry")
	// ErrMalformed: the bytes are no archive.
	ErrMalformed = errors.New("the revision is no archive")
	// ErrUnverified: what was given did not pass verification.
	ErrUnverified = errors.New("the revision was not verified")
)

// Limits bound a revision. The same hold for packing and unpacking, so that what
// was packed can be unpacked.
type Limits struct {
	Files int
	// FileSize and TotalSize are of the unpacked content, in bytes.
	FileSize, TotalSize int64
	// PackedSize is of the archive.
	PackedSize int64
}

// DefaultLimits are far above any configuration that people write.
var DefaultLimits = Limits{Files: 10_000, FileSize: 32 << 20, TotalSize: 256 << 20, PackedSize: 64 << 20}

const (
	maxPath    = 1000
	maxSegment = 255 // what common file systems allow for one name
	maxDepth   = 50
)

// modulesDir is where installed modules travel. Nothing else of that hidden folder
// does: what is installed there is chosen by the machine that uses it.
const modulesDir = ".terraform/modules/"

// checkPath tells whether a slash-separated path is relative, stays inside, means
// the same on every system and is none that must never travel.
func checkPath(name string) error {
	switch {
	case name == "" || name == "." || len(name) > maxPath:
		return fmt.Errorf("%w: a path is empty or too long", ErrUnsafe)
	case path.IsAbs(name) || path.Clean(name) != name || name == ".." || strings.HasPrefix(name, "../"):
		return fmt.Errorf("%w: %q leaves the folder or is not in its simplest form", ErrUnsafe, name)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, odd):
		return fmt.Errorf("%w: %q has a character that not every system takes in a name", ErrUnsafe, name)
	case strings.Count(name, "/") >= maxDepth:
		return fmt.Errorf("%w: %q has more than %d folders", ErrUnsafe, name, maxDepth)
	}
	for segment := range strings.SplitSeq(strings.TrimPrefix(name, modulesDir), "/") {
		if len(segment) > maxSegment {
			return fmt.Errorf("%w: %q has a name of more than %d bytes", ErrUnsafe, name, maxSegment)
		}
		if forbidden(segment) {
			return fmt.Errorf("%w: %q must not travel in a revision", ErrUnsafe, name)
		}
	}
	return nil
}

func odd(r rune) bool { return unicode.IsControl(r) || strings.ContainsRune(`\:*?"<>|`, r) }

// forbidden names hold secrets, other people's history, or what an agent makes
// for itself.
func forbidden(segment string) bool {
	name := strings.ToLower(segment)
	switch name {
	case ".terraform", ".git", ".hg", ".svn":
		return true
	}
	return strings.HasSuffix(name, ".tfstate") || strings.Contains(name, ".tfstate.") || strings.HasSuffix(name, ".tfplan")
}

// tally counts what is packed or unpacked.
type tally struct {
	limits Limits
	files  int
	total  int64
	seen   map[string]bool
}

// add counts a file and refuses the one that goes over a limit or repeats a path;
// paths that differ in case only are one path on some systems.
func (t *tally) add(name string, size int64) error {
	if err := checkPath(name); err != nil {
		return err
	}
	if t.seen == nil {
		t.seen = map[string]bool{}
	}
	folded := strings.ToLower(name)
	if t.seen[folded] {
		return fmt.Errorf("%w: %q is there twice, perhaps with other capitals", ErrUnsafe, name)
	}
	t.seen[folded] = true
	t.files++
	switch {
	case size < 0 || size > t.limits.FileSize:
		return fmt.Errorf("%w: %q has %d bytes, and a file may have %d", ErrLimit, name, size, t.limits.FileSize)
	case t.files > t.limits.Files:
		return fmt.Errorf("%w: it has more than %d files", ErrLimit, t.limits.Files)
	case size > t.limits.TotalSize-t.total:
		return fmt.Errorf("%w: its files have more than %d bytes", ErrLimit, t.limits.TotalSize)
	}
	t.total += size
	return nil
}

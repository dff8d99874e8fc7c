package objstore

import (
	"fmt"
	"strings"
)

// MaxKeyLength bounds a key, and the prefix of a store. S3 allows 1,024 bytes for
// both together with the slash between them.
const MaxKeyLength = 511

// maxSegmentLength is what common file systems allow for one name.
const maxSegmentLength = 255

// ValidateKey returns an error that wraps [ErrInvalidKey] unless key is made of
// non-empty segments of ASCII letters, digits and "._-+=@~", none of which begins
// with a dot. Such keys mean the same in every store and on every file system.
func ValidateKey(key string) error {
	if key == "" {
		return fmt.Errorf("%w: it is empty", ErrInvalidKey)
	}
	if len(key) > MaxKeyLength {
		return fmt.Errorf("%w: it has %d bytes, more than %d", ErrInvalidKey, len(key), MaxKeyLength)
	}
	for segment := range strings.SplitSeq(key, "/") {
		if err := validateSegment(segment); err != nil {
			return fmt.Errorf("%w %q: %s", ErrInvalidKey, key, err)
		}
	}
	return nil
}

// ValidatePrefix is [ValidateKey] for the argument of a listing: it may be empty
// or end in a slash.
func ValidatePrefix(prefix string) error {
	trimmed := strings.TrimSuffix(prefix, "/")
	if trimmed == "" && prefix == "" {
		return nil
	}
	return ValidateKey(trimmed)
}

func validateSegment(segment string) error {
	switch {
	case segment == "":
		return fmt.Errorf("a segment is empty")
	case len(segment) > maxSegmentLength:
		return fmt.Errorf("a segment has more than %d bytes", maxSegmentLength)
	case segment[0] == '.':
		return fmt.Errorf("segment %q begins with a dot", segment)
	}
	for i := range len(segment) {
		if !keyByte(segment[i]) {
			return fmt.Errorf("segment %q holds a character other than letters, digits and ._-+=@~", segment)
		}
	}
	return nil
}

func keyByte(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	return strings.IndexByte("._-+=@~", c) >= 0
}

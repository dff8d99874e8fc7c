package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"strings"
)

// TargetInfo describes a target: a document or a revision.
type TargetInfo struct {
	// Name is the path that role patterns match.
	Name   string
	Length int64
	// SHA256 is in hex.
	SHA256 string
	// Custom is JSON that is signed together with the description.
	Custom json.RawMessage
}

// Describe returns the description of content.
func Describe(name string, content []byte, custom json.RawMessage) TargetInfo {
	return TargetInfo{Name: name, Length: int64(len(content)), SHA256: Digest(content), Custom: custom}
}

// Digest is the SHA-256 of data, in hex.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Target is a description that a [Verifier] accepted. Only a Verifier makes one
// that is of use.
type Target struct {
	TargetInfo
	role string
}

// Verify returns the content as verified if it is what was signed.
func (t Target) Verify(content []byte) (Verified, error) {
	if t.role == "" {
		return Verified{}, fmt.Errorf("verify target: %w: its description was not verified", ErrOrder)
	}
	if int64(len(content)) != t.Length {
		return Verified{}, fmt.Errorf("target %s: %w: it has %d bytes, and %d were signed", t.Name, ErrTampered, len(content), t.Length)
	}
	if got := Digest(content); got != t.SHA256 {
		return Verified{}, fmt.Errorf("target %s: %w: its SHA-256 is %s, and %s was signed", t.Name, ErrTampered, got, t.SHA256)
	}
	return Verified{target: t, content: content}, nil
}

// Verified is content that a role signed for. The zero value stands for nothing;
// whoever takes a Verified refuses it.
type Verified struct {
	target  Target
	content []byte
}

// Valid is false for the zero value.
func (v Verified) Valid() bool { return v.target.role != "" }

// Info describes the content.
func (v Verified) Info() TargetInfo { return v.target.TargetInfo }

// Role is the role that signed.
func (v Verified) Role() string { return v.target.role }

// Content returns the bytes, which the caller must not change.
func (v Verified) Content() []byte { return v.content }

// mayList tells whether the role may sign for a target of this name.
func mayList(role, name string) bool {
	if path.Clean(name) != name || strings.ContainsAny(name, "\\\x00") {
		return false
	}
	for _, pattern := range pathsOf(role) {
		if ok, err := path.Match(pattern, name); err == nil && ok {
			return true
		}
	}
	return false
}

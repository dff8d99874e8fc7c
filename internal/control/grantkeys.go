package control

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
)

// Kinds of signed files about a grant, as folders of its prefix.
const (
	grantRequestFile = "request" + documentSuffix
	grantApprovals   = "approvals"
	grantExtensions  = "extensions"
	grantClosures    = "closures"
)

// ParseGrantKey takes the key of a signed file about a grant apart. signer is the
// [ApproverID] in it, "" for a request; ok is false for every other key.
func ParseGrantKey(environment, key string) (id, signer string, ok bool) {
	rest, found := strings.CutPrefix(key, GrantsPrefix(environment))
	parts := strings.Split(rest, "/")
	if !found || len(parts) < 2 || ValidateName(parts[0]) != nil {
		return "", "", false
	}
	if len(parts) == 2 {
		return parts[0], "", parts[1] == grantRequestFile
	}
	name, isDocument := strings.CutSuffix(parts[2], documentSuffix)
	if len(parts) != 3 || !isDocument {
		return "", "", false
	}
	if parts[1] == grantExtensions {
		until, by, found := strings.Cut(name, "-")
		if _, isNumber := parseNumber(until); !found || !isNumber {
			return "", "", false
		}
		name = by
	}
	known := parts[1] == grantApprovals || parts[1] == grantExtensions || parts[1] == grantClosures
	return parts[0], name, known && name != ""
}

// CheckGrantFile tells whether a file about a grant is signed, and is what its key says.
// Whether its signer may say so is for [VerifyGrant] to tell.
func CheckGrantFile(environment, key string, data []byte) error {
	payload, signer, err := openGrant(data)
	if err != nil {
		return err
	}
	belongs, err := grantFileKey(environment, key, payload, signer)
	if err == nil && belongs != key {
		err = fmt.Errorf("%w: it was signed as %s", ErrMalformed, belongs)
	}
	return err
}

// grantFileKey is the key of what was signed, if it is of the kind that key has.
func grantFileKey(environment, key string, payload []byte, signer ssh.PublicKey) (string, error) {
	me := ApproverID(signer)
	switch kind := strings.TrimPrefix(key, GrantsPrefix(environment)); {
	case strings.Contains(kind, "/"+grantExtensions+"/"):
		extension, err := Decode[GrantExtension](payload)
		return GrantExtensionKey(environment, extension.ID, extension.Until, me), err
	case strings.Contains(kind, "/"+grantClosures+"/"):
		closure, err := Decode[GrantClosure](payload)
		return GrantClosureKey(environment, closure.ID, me), err
	case strings.Contains(kind, "/"+grantApprovals+"/"):
		request, err := Decode[GrantRequest](payload)
		return GrantApprovalKey(request.Environment, request.ID, me), err
	default:
		request, err := Decode[GrantRequest](payload)
		return GrantRequestKey(request.Environment, request.ID), err
	}
}

// Add puts a file among a grant's others, by its key.
func (f *GrantFiles) Add(key string, data []byte) {
	switch {
	case strings.Contains(key, "/"+grantApprovals+"/"):
		f.Approvals = append(f.Approvals, data)
	case strings.Contains(key, "/"+grantExtensions+"/"):
		f.Extensions = append(f.Extensions, data)
	case strings.Contains(key, "/"+grantClosures+"/"):
		f.Closures = append(f.Closures, data)
	default:
		f.Request = data
	}
}

// Approves tells whether the policy lists an approver, by [ApproverID].
func (p BreakGlassPolicy) Approves(approver string) bool {
	return slices.ContainsFunc(p.Approvers, func(line string) bool {
		key, err := ParseApprover(line)
		return err == nil && ApproverID(key) == approver
	})
}

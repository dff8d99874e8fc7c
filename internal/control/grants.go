package control

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"
)

// GrantNamespace is the SSH signature namespace of everything about grants, so
// that a signature made for something else never counts.
const GrantNamespace = "towline-break-glass"

// clockSkew is how far ahead of ours an opener's clock may be.
const clockSkew = 5 * time.Minute

// ErrGrantRefused is wrapped by every error that says why a policy does not allow a grant.
var ErrGrantRefused = errors.New("the break-glass policy does not allow this grant")

// personEnvelope is a document that a person has signed. Payload and Signature are what
// ssh-keygen -Y verify takes.
type personEnvelope struct {
	Version   int    `json:"version"`
	Payload   []byte `json:"payload"`
	PublicKey string `json:"public_key"`
	Signature string `json:"signature"`
}

// ParseApproverKey reads an approver's private key: OpenSSH's own form or PKCS8
// PEM. A passphrase is used only for an encrypted key.
func ParseApproverKey(pem, passphrase []byte) (ssh.Signer, error) {
	signer, err := ssh.ParsePrivateKey(pem)
	var encrypted *ssh.PassphraseMissingError
	if errors.As(err, &encrypted) && len(passphrase) > 0 {
		signer, err = ssh.ParsePrivateKeyWithPassphrase(pem, passphrase)
	}
	if err != nil {
		return nil, fmt.Errorf("read approver's key: %w", err)
	}
	return signer, nil
}

// ApproverID names an approver's key in object keys and messages: the first 32
// hex digits of its SHA-256.
func ApproverID(key ssh.PublicKey) string {
	sum := sha256.Sum256(key.Marshal())
	return hex.EncodeToString(sum[:16])
}

// SignGrantRequest signs a request; the signature counts as the opener's approval.
func SignGrantRequest(request GrantRequest, signer ssh.Signer) ([]byte, error) {
	return signGrant(request, signer)
}

// ApproveGrant signs what the request in signed says once more, with another approver's key.
func ApproveGrant(signed []byte, signer ssh.Signer) ([]byte, error) {
	payload, _, err := openGrant(signed)
	if err != nil {
		return nil, fmt.Errorf("approve grant: %w", err)
	}
	request, err := Decode[GrantRequest](payload)
	if err != nil {
		return nil, fmt.Errorf("approve grant: %w", err)
	}
	return signGrant(request, signer)
}

// SignGrantExtension signs an extension.
func SignGrantExtension(extension GrantExtension, signer ssh.Signer) ([]byte, error) {
	return signGrant(extension, signer)
}

// SignGrantClosure signs a closure.
func SignGrantClosure(closure GrantClosure, signer ssh.Signer) ([]byte, error) {
	return signGrant(closure, signer)
}

func signGrant(doc Document, signer ssh.Signer) ([]byte, error) {
	return signAs(GrantNamespace, doc, signer)
}

// signAs signs a person's document with an SSH key, for one purpose.
func signAs(namespace string, doc Document, signer ssh.Signer) ([]byte, error) {
	payload, err := Encode(doc)
	if err != nil {
		return nil, err
	}
	signature, err := sshsig.Sign(bytes.NewReader(payload), signer, sshsig.HashSHA512, namespace)
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	return json.Marshal(personEnvelope{
		Version: FormatVersion, Payload: payload,
		PublicKey: string(bytes.TrimSpace(ssh.MarshalAuthorizedKey(signer.PublicKey()))),
		Signature: string(sshsig.Armor(signature)),
	})
}

func openGrant(data []byte) ([]byte, ssh.PublicKey, error) {
	payload, key, err := openAs(GrantNamespace, data)
	if err != nil {
		return nil, nil, fmt.Errorf("open grant: %w", err)
	}
	return payload, key, nil
}

// openAs returns the payload and the key that signed it for a purpose. Whose key that
// is, it does not ask.
func openAs(namespace string, data []byte) ([]byte, ssh.PublicKey, error) {
	var envelope personEnvelope
	if err := decodeStrict(data, &envelope); err != nil {
		return nil, nil, err
	}
	key, err := ParseApprover(envelope.PublicKey)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrSignature, err)
	}
	signature, err := sshsig.Unarmor([]byte(envelope.Signature))
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrSignature, err)
	}
	if err := sshsig.Verify(bytes.NewReader(envelope.Payload), signature, key, sshsig.HashSHA512, namespace); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrSignature, err)
	}
	return envelope.Payload, key, nil
}

// GrantPhase is where in its life a grant is.
type GrantPhase string

// The phases of a grant.
const (
	GrantPending GrantPhase = "pending" // approvals are missing
	GrantOpen    GrantPhase = "open"    // in force
	GrantClosed  GrantPhase = "closed"  // ended early, by a closure
	GrantExpired GrantPhase = "expired" // ended at its time
)

// Grant is a request that its policy allows.
type Grant struct {
	// Request is what was asked for, with the end as it was extended.
	Request GrantRequest
	Phase   GrantPhase
	// Ended is when a closed or expired grant ended.
	Ended time.Time
	// Approvers are the [ApproverID]s of those who approved, the opener first.
	Approvers []string
	// Missing counts the approvals that a pending grant still needs.
	Missing int
}

// GrantFiles are the signed objects of one grant, as the store holds them.
type GrantFiles struct {
	Request                         []byte
	Approvals, Extensions, Closures [][]byte
}

// InspectGrant reads what a request says without asking whether a policy allows
// it; the signature holds, but whose it is remains open. Use it to find the policy.
func InspectGrant(request []byte) (GrantRequest, error) {
	payload, _, err := openGrant(request)
	if err != nil {
		return GrantRequest{}, err
	}
	return Decode[GrantRequest](payload)
}

// VerifyGrant judges a grant by its policy at a time. Approvals and closures by
// others than approvers, or of something else, are as if they were not there: who
// can write to the store can neither open nor close a grant. An error wraps
// [ErrGrantRefused], [ErrSignature] or [ErrMalformed].
func VerifyGrant(policy BreakGlassPolicy, files GrantFiles, now time.Time) (Grant, error) {
	payload, opener, err := openGrant(files.Request)
	if err != nil {
		return Grant{}, err
	}
	request, err := Decode[GrantRequest](payload)
	if err != nil {
		return Grant{}, err
	}
	if err := allows(policy, request, opener, now); err != nil {
		return Grant{}, err
	}
	request.Until = extended(policy, request, files.Extensions)
	grant := Grant{Request: request, Approvers: approversOf(policy, payload, opener, files.Approvals)}
	grant.Missing = max(0, policy.Approvals-len(grant.Approvers))
	grant.Phase, grant.Ended = phaseOf(policy, request, grant.Missing, files.Closures, now)
	return grant, nil
}

// allows checks who, over what, how long and why.
func allows(policy BreakGlassPolicy, request GrantRequest, opener ssh.PublicKey, now time.Time) error {
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", ErrGrantRefused, fmt.Sprintf(format, args...))
	}
	longest := time.Duration(policy.MaxDuration)
	switch {
	case request.Environment != policy.Environment || request.Policy != policy.Name:
		return refuse("it is for policy %s/%s, not %s/%s", request.Environment, request.Policy, policy.Environment, policy.Name)
	case !isApprover(policy, opener):
		return refuse("the key %s that opened it is not one of the policy's approvers", ssh.FingerprintSHA256(opener))
	case request.Until.Sub(request.Opened) > longest:
		return refuse("it asks for %s, more than the policy's %s", request.Until.Sub(request.Opened), longest)
	case request.Opened.After(now.Add(clockSkew)):
		return refuse("it was opened at %s, which is still to come; check the clocks", request.Opened.Format(time.RFC3339))
	case policy.RequireReason && request.Reason == "":
		return refuse("the policy asks for a reason and it gives none")
	}
	return nil
}

func approversOf(policy BreakGlassPolicy, payload []byte, opener ssh.PublicKey, approvals [][]byte) []string {
	approvers := []string{ApproverID(opener)}
	for _, approval := range approvals {
		approved, key, err := openGrant(approval)
		if err != nil || !bytes.Equal(approved, payload) || !isApprover(policy, key) {
			continue
		}
		if id := ApproverID(key); !slices.Contains(approvers, id) {
			approvers = append(approvers, id)
		}
	}
	return approvers
}

func phaseOf(policy BreakGlassPolicy, request GrantRequest, missing int, closures [][]byte, now time.Time) (GrantPhase, time.Time) {
	closed := earliestClosure(policy, request, closures)
	switch {
	case !closed.IsZero() && closed.Before(request.Until):
		return GrantClosed, closed
	case !closed.IsZero(), !now.Before(request.Until):
		return GrantExpired, request.Until
	case missing > 0:
		return GrantPending, time.Time{}
	}
	return GrantOpen, time.Time{}
}

// extended is the end of a grant: the latest of its own and of the ends that enough
// approvers have signed, each before the end that it moves, within what the policy allows.
func extended(policy BreakGlassPolicy, request GrantRequest, extensions [][]byte) time.Time {
	signed := map[time.Time]map[string]time.Time{}
	for _, data := range extensions {
		extension, key, err := openExtension(data)
		if err != nil || !isApprover(policy, key) || extension.ID != request.ID || extension.Until.Sub(request.Opened) > time.Duration(policy.MaxDuration) {
			continue
		}
		if signed[extension.Until] == nil {
			signed[extension.Until] = map[string]time.Time{}
		}
		signed[extension.Until][ApproverID(key)] = extension.Time
	}
	until := request.Until
	for _, end := range slices.SortedFunc(maps.Keys(signed), time.Time.Compare) {
		inTime := 0
		for _, at := range signed[end] {
			if at.Before(until) {
				inTime++
			}
		}
		if end.After(until) && inTime >= policy.Approvals {
			until = end
		}
	}
	return until
}

func openExtension(data []byte) (GrantExtension, ssh.PublicKey, error) {
	payload, key, err := openGrant(data)
	if err != nil {
		return GrantExtension{}, nil, err
	}
	extension, err := Decode[GrantExtension](payload)
	return extension, key, err
}

// Extended tells whether an approver, by [ApproverID], has signed an end already.
func (f GrantFiles) Extended(approver string, until time.Time) bool {
	return slices.ContainsFunc(f.Extensions, func(data []byte) bool {
		extension, key, err := openExtension(data)
		return err == nil && extension.Until.Equal(until) && ApproverID(key) == approver
	})
}

// earliestClosure returns the time of the first valid closure, or zero. Whether
// there is one ends the grant at once, whatever its time says: a closer's clock
// must not keep a grant open.
func earliestClosure(policy BreakGlassPolicy, request GrantRequest, closures [][]byte) time.Time {
	var earliest time.Time
	for _, data := range closures {
		payload, key, err := openGrant(data)
		if err != nil || !isApprover(policy, key) {
			continue
		}
		closure, err := Decode[GrantClosure](payload)
		if err != nil || closure.ID != request.ID {
			continue
		}
		if earliest.IsZero() || closure.Closed.Before(earliest) {
			earliest = closure.Closed
		}
	}
	return earliest
}

func isApprover(policy BreakGlassPolicy, key ssh.PublicKey) bool {
	return isListed(policy.Approvers, key)
}

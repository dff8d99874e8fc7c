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

// ApproveGrant signs what a grant's request says once more, with another approver's key.
func ApproveGrant(files GrantFiles, signer ssh.Signer) ([]byte, error) {
	request, err := files.Asked()
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
	// Digest is the [RequestDigest] of what was asked for.
	Digest string
	Phase  GrantPhase
	// Ended is when a closed or expired grant ended.
	Ended time.Time
	// Approvers are the [ApproverID]s of those who approved, the opener first.
	Approvers []string
	// Users are the Slack users of those who did in Slack, by approver; User is the opener's.
	Users map[string]string
	User  string
	// Missing counts the approvals that a pending grant still needs.
	Missing int
}

// GrantFiles is what was said of one grant: the objects that people have signed, as the
// store holds them, and what they did in Slack, as agents that may receive it have signed
// it. Whoever reads those looks at the agents' signatures.
type GrantFiles struct {
	Request                         []byte
	Approvals, Extensions, Closures [][]byte
	// Opening is in the place of Request, of a grant that was opened in Slack.
	Opening *GrantClick
	Clicks  []GrantClick
}

// Asked reads what a grant asks for, without asking whether a policy allows it: the
// signature holds, but whose it is remains open. Use it to find the policy.
func (f GrantFiles) Asked() (GrantRequest, error) {
	if f.Request == nil && f.Opening != nil {
		return *f.Opening.Request, nil
	}
	payload, _, err := openGrant(f.Request)
	if err != nil {
		return GrantRequest{}, err
	}
	return Decode[GrantRequest](payload)
}

// opening is a request, and who made it.
type opening struct {
	request GrantRequest
	payload []byte
	// approver is the [ApproverID], "" of somebody who is none of the policy's; who names
	// the person for refusals. user is a Slack user.
	approver, who, user string
}

func (f GrantFiles) opening(policy BreakGlassPolicy) (opening, error) {
	if f.Request == nil && f.Opening != nil {
		user := f.Opening.User
		payload, err := Encode(*f.Opening.Request)
		return opening{*f.Opening.Request, payload, policy.SlackApprover(user), fmt.Sprintf("the Slack user %s who opened it is not one of the policy's approvers; see its slack_users", user), user}, err
	}
	payload, key, err := openGrant(f.Request)
	if err != nil {
		return opening{}, err
	}
	request, err := Decode[GrantRequest](payload)
	out := opening{request: request, payload: payload, who: fmt.Sprintf("the key %s that opened it is not one of the policy's approvers", ssh.FingerprintSHA256(key))}
	if isApprover(policy, key) {
		out.approver = ApproverID(key)
	}
	return out, err
}

// VerifyGrant judges a grant by its policy at a time. Approvals and closures by
// others than approvers, or of something else, are as if they were not there: who
// can write to the store can neither open nor close a grant. Whoever signs, and does the
// same in Slack, counts once. An error wraps [ErrGrantRefused], [ErrSignature] or [ErrMalformed].
func VerifyGrant(policy BreakGlassPolicy, files GrantFiles, now time.Time) (Grant, error) {
	opened, err := files.opening(policy)
	if err != nil {
		return Grant{}, err
	}
	if err := allows(policy, opened, now); err != nil {
		return Grant{}, err
	}
	grant := Grant{Request: opened.request, Digest: requestDigest(opened.payload), User: opened.user}
	grant.Request.Until = extended(policy, opened.request, files.Extensions)
	grant.Approvers, grant.Users = approversOf(policy, opened, files)
	grant.Missing = max(0, policy.Approvals-len(grant.Approvers))
	grant.Phase, grant.Ended = phaseOf(grant.Request, grant.Missing, earliestClosure(policy, opened, files))
	return grant.At(now), nil
}

// At is the grant at a time that is not before the one it was judged at, by the same
// files and the same policy.
func (g Grant) At(now time.Time) Grant {
	if (g.Phase == GrantOpen || g.Phase == GrantPending) && !now.Before(g.Request.Until) {
		g.Phase, g.Ended = GrantExpired, g.Request.Until
	}
	return g
}

// allows checks who, over what, how long and why.
func allows(policy BreakGlassPolicy, opened opening, now time.Time) error {
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", ErrGrantRefused, fmt.Sprintf(format, args...))
	}
	request, longest := opened.request, time.Duration(policy.MaxDuration)
	switch {
	case request.Environment != policy.Environment || request.Policy != policy.Name:
		return refuse("it is for policy %s/%s, not %s/%s", request.Environment, request.Policy, policy.Environment, policy.Name)
	case opened.approver == "":
		return refuse("%s", opened.who)
	case request.Until.Sub(request.Opened) > longest:
		return refuse("it asks for %s, more than the policy's %s", request.Until.Sub(request.Opened), longest)
	case request.Opened.After(now.Add(clockSkew)):
		return refuse("it was opened at %s, which is still to come; check the clocks", request.Opened.Format(time.RFC3339))
	case policy.RequireReason && request.Reason == "":
		return refuse("the policy asks for a reason and it gives none")
	}
	return nil
}

// approversOf are those who approved, the opener first, and who of them did in Slack.
func approversOf(policy BreakGlassPolicy, opened opening, files GrantFiles) (approvers []string, users map[string]string) {
	users = map[string]string{}
	add := func(approver, user string) {
		if approver == "" || slices.Contains(approvers, approver) {
			return
		}
		approvers = append(approvers, approver)
		if user != "" {
			users[approver] = user
		}
	}
	add(opened.approver, opened.user)
	for _, approval := range files.Approvals {
		approved, key, err := openGrant(approval)
		if err == nil && bytes.Equal(approved, opened.payload) && isApprover(policy, key) {
			add(ApproverID(key), "")
		}
	}
	for _, click := range files.Clicks {
		if click.says(GrantApproves, opened) {
			add(policy.SlackApprover(click.User), click.User)
		}
	}
	return approvers, users
}

// says tells whether something was said of exactly this request.
func (c GrantClick) says(verb GrantVerb, opened opening) bool {
	return c.Verb == verb && c.Environment == opened.request.Environment && c.Grant == opened.request.ID && c.Digest == requestDigest(opened.payload)
}

// phaseOf is a grant's phase before its end.
func phaseOf(request GrantRequest, missing int, closed time.Time) (GrantPhase, time.Time) {
	switch {
	case !closed.IsZero() && closed.Before(request.Until):
		return GrantClosed, closed
	case !closed.IsZero():
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
func earliestClosure(policy BreakGlassPolicy, opened opening, files GrantFiles) time.Time {
	var earliest time.Time
	add := func(closed time.Time) {
		if earliest.IsZero() || closed.Before(earliest) {
			earliest = closed
		}
	}
	for _, data := range files.Closures {
		payload, key, err := openGrant(data)
		if err != nil || !isApprover(policy, key) {
			continue
		}
		closure, err := Decode[GrantClosure](payload)
		if err == nil && closure.ID == opened.request.ID {
			add(closure.Closed)
		}
	}
	for _, click := range files.Clicks {
		if click.says(GrantCloses, opened) && policy.SlackApprover(click.User) != "" {
			add(click.Time)
		}
	}
	return earliest
}

func isApprover(policy BreakGlassPolicy, key ssh.PublicKey) bool {
	return isListed(policy.Approvers, key)
}

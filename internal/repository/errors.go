package repository

import "errors"

// Errors that callers act on. Refusals of what was read wrap the errors of
// package trust, failures of the store those of package objstore.
var (
	// ErrNotInitialised: the store holds no repository.
	ErrNotInitialised = errors.New("the store holds no repository")
	// ErrInitialised: [Init] found a repository.
	ErrInitialised = errors.New("the store holds a repository already")
	// ErrFingerprint: the repository's first root is not the expected one.
	ErrFingerprint = errors.New("the repository's first root does not have the expected fingerprint")
	// ErrNotFound: there is no such document or revision.
	ErrNotFound = errors.New("it is not in the repository")
	// ErrIncomplete: metadata names a file that the store does not hold.
	ErrIncomplete = errors.New("a file that the metadata names is missing")
	// ErrContended: others kept publishing; nothing was lost, and trying later helps.
	ErrContended = errors.New("other publishers were faster every time")
	// ErrNeedsSignature: who may sign for a role is to change, and neither the
	// present signatures nor the given keys suffice for the new rule.
	ErrNeedsSignature = errors.New("the role must be signed again")
	// ErrInUse: the store still holds what cannot be declared again.
	ErrInUse = errors.New("the store still holds revisions, states or receipts")
	// ErrNothingKept: this client has verified nothing yet.
	ErrNothingKept = errors.New("nothing was verified before")
)

package trust

import "errors"

// Refusals of a [Verifier]. Each names an attack, or the mistake that looks like it.
var (
	// ErrUnsigned: no key that is trusted for the role has signed.
	ErrUnsigned = errors.New("it is not signed by any key trusted for the role")
	// ErrThreshold: trusted keys have signed, but fewer than the role's threshold.
	ErrThreshold = errors.New("it is signed by fewer trusted keys than the role's threshold")
	// ErrRollback: an older version than one seen before, or one that forgets what was seen.
	ErrRollback = errors.New("it is older than what was seen before")
	// ErrFastForward: a version so high that no newer one can follow. Whoever signed it wanted that.
	ErrFastForward = errors.New("its version leaves no room for newer ones")
	// ErrExpired: its time is over. Either nobody renews it, or someone withholds newer versions.
	ErrExpired = errors.New("it has expired")
	// ErrMixAndMatch: it is not the version that the rest of the metadata names.
	ErrMixAndMatch = errors.New("it does not belong to the rest of the metadata")
	// ErrOutsideRole: a role lists a target that it may not sign.
	ErrOutsideRole = errors.New("it lists a target outside the role's paths")
	// ErrTampered: a target's bytes are not those that were signed.
	ErrTampered = errors.New("the content is not what was signed")
	// ErrMalformed: the bytes are no metadata.
	ErrMalformed = errors.New("it is malformed")
	// ErrNoRole: the environment or channel is not declared in the repository.
	ErrNoRole = errors.New("it is not declared in the repository")
	// ErrOrder: a step of the verification was left out. It is a mistake of the program.
	ErrOrder = errors.New("metadata was given out of order")
	// ErrKeyMissing: the given keys do not suffice to sign for a role.
	ErrKeyMissing = errors.New("a signing key is missing")
)

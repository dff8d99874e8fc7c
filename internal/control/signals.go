package control

import (
	"fmt"
	"time"

	"golang.org/x/crypto/ssh"
)

// SignalNamespace is the SSH signature namespace of signals.
const SignalNamespace = "towline-signal"

// MaxRingers bounds the keys that may ring.
const MaxRingers = 16

// Signals says who may have an agent look sooner than its time. A signal says nothing
// else, and one that is lost costs nothing.
type Signals struct {
	// Keys are public keys, in authorized_keys form, of those who may ring the doorbell in
	// the store.
	Keys []string `json:"keys,omitempty"`
	// Queue is the URL of an SQS queue; its policy says who may send there.
	Queue string `json:"queue,omitempty"`
}

// Signal asks the agents of an environment to look now.
type Signal struct {
	Version     int       `json:"version"`
	Environment string    `json:"environment"`
	Time        time.Time `json:"time"`
	By          string    `json:"by,omitempty"`
}

// Validate implements [Document].
func (s Signal) Validate() error {
	var check checker
	check.head(s.Version, s.Environment)
	check.time("time", s.Time)
	check.text("by", s.By)
	return check.err()
}

// SignSignal signs a signal with the key of somebody who may ring.
func SignSignal(signal Signal, signer ssh.Signer) ([]byte, error) {
	return signAs(SignalNamespace, signal, signer)
}

// OpenSignal reads a signal that one of some keys has signed for an environment.
func OpenSignal(keys []string, environment string, data []byte) (Signal, error) {
	payload, key, err := openAs(SignalNamespace, data)
	if err != nil {
		return Signal{}, fmt.Errorf("open signal: %w", err)
	}
	if !isListed(keys, key) {
		return Signal{}, fmt.Errorf("open signal: %w: the key %s is not one of those that may ring", ErrSignature, ssh.FingerprintSHA256(key))
	}
	signal, err := Decode[Signal](payload)
	if err == nil && signal.Environment != environment {
		err = fmt.Errorf("%w: it is for environment %s", ErrMalformed, signal.Environment)
	}
	return signal, err
}

// SignalsPrefix begins the keys of an environment's doorbells.
func SignalsPrefix(environment string) string { return EnvironmentPrefix(environment) + "signals/" }

// SignalKey is overwritten by one of those who may ring; ringer is from [ApproverID].
func SignalKey(environment, ringer string) string {
	return SignalsPrefix(environment) + ringer + documentSuffix
}

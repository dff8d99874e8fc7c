package agent

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

const (
	// leastApply and mostApply bound how long the changes of a round are expected to take:
	// the one is what a slow object takes, the other is below the shortest time for which
	// roles are given out in turn, an hour, so that new credentials always suffice.
	leastApply = 5 * time.Minute
	mostApply  = 45 * time.Minute
	// credentialsTimeout bounds the question for credentials.
	credentialsTimeout = 20 * time.Second
)

// outlast refuses to begin changes that the credentials of the store and of providers will
// not outlast: what is made when they end could neither be finished nor recorded. They are
// asked for anew before that. Credentials that tell no end are believed to have none.
func (r *round) outlast(ctx context.Context) error {
	a := r.agent
	if a.credentials == nil {
		return nil
	}
	expected := a.expectedApply(len(r.changes))
	ends, known, err := a.credentialsEnd(ctx, expected)
	if err != nil {
		r.warn("Credentials not readable", fmt.Sprintf("It cannot be found out until when the credentials of AWS are good: %s.", err))
		return nil
	}
	left := ends.Sub(a.now())
	if !known || left >= expected {
		return nil
	}
	r.changes = r.plannedChanges("held")
	return fmt.Errorf("the credentials of AWS end at %s, in %s, and cannot be had for longer; the %d changes may take %s. None is begun, and they are tried again in the next round: give the agent's role or session a longer life",
		ends.UTC().Format(time.RFC3339), left.Round(time.Second), len(r.changes), expected.Round(time.Second))
}

// credentialsEnd tells until when credentials are good, of new ones if the present ones
// end within a time.
func (a *Agent) credentialsEnd(ctx context.Context, within time.Duration) (ends time.Time, known bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, credentialsTimeout)
	defer cancel()
	now, err := a.credentials.Retrieve(ctx)
	if err != nil || !now.CanExpire || now.Expires.Sub(a.now()) >= within {
		return now.Expires, now.CanExpire, err
	}
	if cache, ok := a.credentials.(*aws.CredentialsCache); ok {
		cache.Invalidate()
	}
	now, err = a.credentials.Retrieve(ctx)
	return now.Expires, now.CanExpire, err
}

// expectedApply is how long a number of changes may take, by the slowest round of late.
func (a *Agent) expectedApply(changes int) time.Duration {
	return min(max(leastApply, a.pace*time.Duration(changes)), mostApply)
}

// notePace takes down how long changes took. A slow round is forgotten by and by.
func (a *Agent) notePace(began time.Time, changes int) {
	if changes > 0 {
		a.pace = max(a.now().Sub(began)/time.Duration(changes), a.pace*9/10)
	}
}

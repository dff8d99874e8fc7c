package probe

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/towline/terraform-provider-towline/internal/objstore"
)

// The size of a race: small enough for a slow line, and enough for a store that looks
// before it writes to let two writers through.
const (
	racers     = 8
	raceKeys   = 10
	raceCounts = 2
	// maxTries bounds the attempts to raise a counter; with all racers at it, one of
	// them succeeds each time.
	maxTries = 20 * racers * raceCounts
)

// ErrIgnoresConditions: the store carries out writes whose condition does not hold.
var ErrIgnoresConditions = errors.New("the store ignores conditions")

// Honours returns an error that wraps [ErrIgnoresConditions] if a store creates an
// object that is there already. data is its content, so that nothing changes even then.
// Any other error means that the store did not say.
func Honours(ctx context.Context, store objstore.Store, key string, data []byte) error {
	_, err := store.PutIfAbsent(ctx, key, data)
	switch {
	case errors.Is(err, objstore.ErrExist):
		return nil
	case err == nil:
		return fmt.Errorf("create %q once more: %w: of many writers each would believe to be the only one", key, ErrIgnoresConditions)
	}
	return fmt.Errorf("find out whether the store honours conditions: %w", err)
}

func (c *check) probeCreateOnly(ctx context.Context) (string, error) {
	key := c.prefix + "create-only"
	version, err := c.store.PutIfAbsent(ctx, key, []byte("first"))
	if err != nil {
		return "", err
	}
	_, err = c.store.PutIfAbsent(ctx, key, []byte("second"))
	switch {
	case err == nil:
		return "", brokenf("the store created an object where one was: it ignores the condition")
	case !errors.Is(err, objstore.ErrExist):
		return "", err
	}
	object, err := c.store.Get(ctx, key, 100)
	if err != nil {
		return "", err
	}
	if string(object.Data) != "first" || object.Version != version {
		return "", brokenf("the store refused the second of two creations, and yet the first one's object was changed")
	}
	return "an object that exists is not created again", nil
}

// probeCreateRace has many create the same objects at once: each has one creator.
func (c *check) probeCreateRace(ctx context.Context) (string, error) {
	for i := range raceKeys {
		key := fmt.Sprintf("%screate-race/%02d", c.prefix, i)
		var won atomic.Int64
		var winner atomic.Value
		err := concurrently(racers, func(racer int) error {
			name := "racer-" + strconv.Itoa(racer)
			_, err := c.store.PutIfAbsent(ctx, key, []byte(name))
			if errors.Is(err, objstore.ErrExist) {
				return nil
			}
			if err == nil {
				won.Add(1)
				winner.Store(name)
			}
			return err
		})
		if err != nil {
			return "", err
		}
		if err := c.oneWinner(ctx, key, won.Load(), winner.Load()); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("of %d writers at once one created each of %d objects", racers, raceKeys), nil
}

func (c *check) oneWinner(ctx context.Context, key string, won int64, winner any) error {
	if won != 1 {
		return brokenf("of %d writers at once %d were told that they created the object", racers, won)
	}
	object, err := c.store.Get(ctx, key, 100)
	if err != nil {
		return err
	}
	if string(object.Data) != winner {
		return brokenf("the object is not of the writer who was told to have created it")
	}
	return nil
}

func (c *check) probeSwap(ctx context.Context) (string, error) {
	key := c.prefix + "swap"
	old, err := c.store.Put(ctx, key, []byte("one"))
	if err != nil {
		return "", err
	}
	if _, err := c.store.PutIfMatch(ctx, key, []byte("two"), old); err != nil {
		return "", fmt.Errorf("replace the version that is there: %w", err)
	}
	_, err = c.store.PutIfMatch(ctx, key, []byte("three"), old)
	switch {
	case err == nil:
		return "", brokenf("the store replaced an object of which the writer had read an older version: it ignores the condition")
	case !errors.Is(err, objstore.ErrChanged):
		return "", err
	}
	object, err := c.store.Get(ctx, key, 100)
	if err != nil {
		return "", err
	}
	if string(object.Data) != "two" {
		return "", brokenf("the store refused to replace the object, and yet it was changed")
	}
	return "a version that was replaced is not replaced again", nil
}

// probeSwapRace has many raise one counter: no increment is lost.
func (c *check) probeSwapRace(ctx context.Context) (string, error) {
	key := c.prefix + "swap-race"
	if _, err := c.store.Put(ctx, key, []byte("0")); err != nil {
		return "", err
	}
	err := concurrently(racers, func(int) error {
		for range raceCounts {
			if err := c.increment(ctx, key); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	object, err := c.store.Get(ctx, key, 100)
	if err != nil {
		return "", err
	}
	if want := strconv.Itoa(racers * raceCounts); string(object.Data) != want {
		return "", brokenf("of %s increments by %d writers at once, %.20s were kept", want, racers, object.Data)
	}
	return fmt.Sprintf("%d writers at once lost nothing of each other", racers), nil
}

func (c *check) increment(ctx context.Context, key string) error {
	for range maxTries {
		object, err := c.store.Get(ctx, key, 100)
		if err != nil {
			return err
		}
		count, err := strconv.Atoi(string(object.Data))
		if err != nil {
			return brokenf("the store answered with %d bytes that nobody wrote", len(object.Data))
		}
		_, err = c.store.PutIfMatch(ctx, key, []byte(strconv.Itoa(count+1)), object.Version)
		if !errors.Is(err, objstore.ErrChanged) {
			return err
		}
	}
	return brokenf("the store refused to replace the version that it had shown, %d times", maxTries)
}

// concurrently calls do for 0..count-1, by a few at once, and joins the errors.
func concurrently(count int, do func(int) error) error {
	errs := make([]error, racers)
	var next atomic.Int64
	var group sync.WaitGroup
	for worker := range racers {
		group.Go(func() {
			for i := next.Add(1) - 1; i < int64(count) && errs[worker] == nil; i = next.Add(1) - 1 {
				errs[worker] = do(int(i))
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err // one tells what is wrong; all would tell the same
		}
	}
	return nil
}

package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/towline/terraform-provider-towline/internal/objstore"
)

// What is read and listed more than once, since a store that is only sometimes stale is stale.
const rereads = 5

// pageObjects is more than any of the stores lists at once.
const pageObjects = 1001

// maxSkew is how far clocks may differ before it is told.
const maxSkew = 30 * time.Second

func (c *check) probeReadAfterWrite(ctx context.Context) (string, error) {
	key := c.prefix + "read-after-write"
	for i := range rereads {
		want := fmt.Appendf(nil, "content %d", i)
		version, err := c.store.Put(ctx, key, want)
		if err != nil {
			return "", err
		}
		object, err := c.store.Get(ctx, key, 100)
		switch {
		case errors.Is(err, objstore.ErrNotExist):
			return "", brokenf("the store accepted an object and does not have it")
		case err != nil:
			return "", err
		case !bytes.Equal(object.Data, want):
			return "", brokenf("the store accepted a content and then showed another, older or shorter one")
		case object.Version != version:
			return "", brokenf("the store named a version when it wrote and another when it read")
		}
	}
	return "what was written is read at once", nil
}

func (c *check) probeListing(ctx context.Context) (string, error) {
	prefix := c.prefix + "listing/"
	var want []string
	for i := range rereads {
		key := fmt.Sprintf("%s%02d", prefix, i)
		if _, err := c.store.Put(ctx, key, []byte("x")); err != nil {
			return "", err
		}
		want = append(want, key)
		if err := c.listed(ctx, prefix, want); err != nil {
			return "", err
		}
	}
	return "what was written is listed at once", nil
}

const (
	// maxListed is far more than a run writes, and listTime longer than listing that takes.
	maxListed = 10_000
	listTime  = time.Minute
)

// list lists keys, and does not wait for a listing without an end.
func (c *check) list(ctx context.Context, prefix string) (keys []string, err error) {
	within, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	for info, err := range c.store.List(within, prefix) {
		switch {
		case err != nil && within.Err() != nil && ctx.Err() == nil:
			return nil, brokenf("a listing of few objects did not end within %s", listTime)
		case err != nil:
			return nil, err
		}
		if keys = append(keys, info.Key); len(keys) > maxListed {
			return nil, brokenf("a listing goes on after %d objects, where there are far fewer: it has no end", maxListed)
		}
	}
	return keys, nil
}

// listed checks that exactly these keys are listed, in order.
func (c *check) listed(ctx context.Context, prefix string, want []string) error {
	got, err := c.list(ctx, prefix)
	switch {
	case err != nil:
		return err
	case slices.Equal(got, want):
		return nil
	case len(got) == len(want):
		return brokenf("a listing is not in the order of the keys")
	}
	return brokenf("a listing shows %d objects where there are %d: it is stale or not whole", len(got), len(want))
}

func (c *check) probeDeletion(ctx context.Context) (string, error) {
	key := c.prefix + "deletion/x"
	if _, err := c.store.Put(ctx, key, []byte("x")); err != nil {
		return "", err
	}
	if err := c.store.Delete(ctx, key); err != nil {
		return "", err
	}
	if _, err := c.store.Get(ctx, key, 100); !errors.Is(err, objstore.ErrNotExist) {
		if err != nil {
			return "", err
		}
		return "", brokenf("an object that was deleted is still read")
	}
	if !c.missing[toList] {
		if err := c.listed(ctx, c.prefix+"deletion/", nil); err != nil {
			return "", err
		}
	}
	return "what was deleted is gone at once", nil
}

func (c *check) probePages(ctx context.Context) (string, error) {
	if !c.options.Pages {
		return "", skipped("not asked for")
	}
	prefix := c.prefix + "pages/"
	want := make([]string, pageObjects)
	for i := range want {
		want[i] = fmt.Sprintf("%s%05d", prefix, i)
	}
	if err := concurrently(len(want), func(i int) error {
		_, err := c.store.Put(ctx, want[i], nil)
		return err
	}); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d objects are listed whole and in order", len(want)), c.listed(ctx, prefix, want)
}

// probeSize writes an object as large as the largest revision and reads it back.
func (c *check) probeSize(ctx context.Context) (string, error) {
	size := c.options.Size
	if size == 0 {
		return "", skipped("not asked for")
	}
	const pattern = "towline repository check\n"
	data := []byte(strings.Repeat(pattern, int(size)/len(pattern)+1)[:size])
	key := c.prefix + "size"
	if _, err := c.store.Put(ctx, key, data); err != nil {
		return "", fmt.Errorf("write %d bytes: %w", size, err)
	}
	object, err := c.store.Get(ctx, key, size)
	if err != nil {
		return "", fmt.Errorf("read %d bytes: %w", size, err)
	}
	if !bytes.Equal(object.Data, data) {
		return "", brokenf("of an object of %d bytes the store kept something else, of %d bytes", size, len(object.Data))
	}
	return fmt.Sprintf("an object of %d bytes is kept", size), nil
}

// probeClock compares the store's time of a write with ours. Nothing rests on it.
func (c *check) probeClock(ctx context.Context) (string, error) {
	before := c.options.Now()
	if _, err := c.store.Put(ctx, c.prefix+"clock", nil); err != nil {
		return "", err
	}
	after := c.options.Now()
	info, err := c.store.Stat(ctx, c.prefix+"clock")
	if err != nil {
		return "", err
	}
	if info.Modified.IsZero() {
		return "", notice("the store does not say when an object was written")
	}
	// Stores round to seconds: what lies between the two readings is no difference.
	switch first, last := before.Truncate(time.Second), after; {
	case info.Modified.Before(first):
		c.skew = info.Modified.Sub(first)
	case info.Modified.After(last):
		c.skew = info.Modified.Sub(last)
	}
	if c.skew.Abs() > maxSkew {
		return "", notice(fmt.Sprintf("the store's clock and this machine's differ by %s: see which one is wrong", c.skew.Round(time.Second)))
	}
	return "the store's clock agrees with this machine's", nil
}

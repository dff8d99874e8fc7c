package probe

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/objstore"
)

// right is what a user of a store must be allowed to do.
type right string

const (
	toWrite  right = "write"
	toRead   right = "read"
	toList   right = "list"
	toDelete right = "delete"
)

// rightNames are what the vendors call them.
var rightNames = map[string]map[right]string{
	"s3": {toWrite: "s3:PutObject", toRead: "s3:GetObject", toList: "s3:ListBucket", toDelete: "s3:DeleteObject"},
	"gs": {
		toWrite: "storage.objects.create, and storage.objects.delete to replace", toRead: "storage.objects.get",
		toList: "storage.objects.list", toDelete: "storage.objects.delete",
	},
	"azblob": {
		toWrite: "Microsoft.Storage/storageAccounts/blobServices/containers/blobs/write", toRead: "Microsoft.Storage/storageAccounts/blobServices/containers/blobs/read",
		toList: "Microsoft.Storage/storageAccounts/blobServices/containers/blobs/read on the container", toDelete: "Microsoft.Storage/storageAccounts/blobServices/containers/blobs/delete",
	},
	"file": {toWrite: "write permission in the folder", toRead: "read permission in the folder", toList: "read permission in the folder", toDelete: "write permission in the folder"},
}

// lacks notes a missing right and names it in the error.
func (c *check) lacks(r right, err error) error {
	if !errors.Is(err, objstore.ErrDenied) {
		return err
	}
	c.missing[r] = true
	scheme, _, _ := strings.Cut(c.store.URL(), "://")
	name, known := rightNames[scheme][r]
	if !known {
		name = "the right to " + string(r)
	}
	return fmt.Errorf("missing: %s: %w", name, err)
}

func (c *check) probeWrite(ctx context.Context) (string, error) {
	if _, err := c.store.Put(ctx, c.prefix+"rights", []byte("written")); err != nil {
		return "", c.lacks(toWrite, err)
	}
	return "objects may be written", nil
}

// probeRead reads what was written, or what is not there: both tell.
func (c *check) probeRead(ctx context.Context) (string, error) {
	_, err := c.store.Get(ctx, c.prefix+"rights", 100)
	if errors.Is(err, objstore.ErrNotExist) {
		if c.missing[toWrite] {
			return "objects may be read", nil
		}
		return "", brokenf("the store accepted an object and does not have it")
	}
	if err != nil {
		return "", c.lacks(toRead, err)
	}
	return "objects may be read", nil
}

func (c *check) probeList(ctx context.Context) (string, error) {
	if _, err := c.list(ctx, c.prefix); err != nil {
		return "", c.lacks(toList, err)
	}
	return "objects may be listed", nil
}

func (c *check) probeDelete(ctx context.Context) (string, error) {
	if err := c.store.Delete(ctx, c.prefix+"rights"); err != nil {
		return "", c.lacks(toDelete, err)
	}
	return "objects may be deleted", nil
}

// probeAbsence: who cannot tell absence from refusal cannot know that nobody holds a
// newer epoch of the lease.
func (c *check) probeAbsence(ctx context.Context) (string, error) {
	_, err := c.store.Stat(ctx, c.prefix+"never-written")
	switch {
	case errors.Is(err, objstore.ErrNotExist):
		return "what is not there is told as such", nil
	case errors.Is(err, objstore.ErrDenied):
		return "", fmt.Errorf("the store refuses where nothing is, as without the right to list: %w", c.lacks(toList, err))
	case err == nil:
		return "", brokenf("the store claims to have an object that nobody wrote")
	}
	return "", err
}

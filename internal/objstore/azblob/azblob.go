package azblob

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/objstore/remote"
)

// pageSize is how many objects are listed at once.
const pageSize = 1000

// Store is an [objstore.Store] in a container. See [Open].
type Store struct {
	container *container.Client
	at        remote.Location
}

var _ objstore.Store = (*Store)(nil)

// writeID is [remote.WriteID] as Azure allows it: no dashes, and any case when it is read.
var writeID = strings.ReplaceAll(remote.WriteID, "-", "")

// Get implements [objstore.Store].
func (s *Store) Get(parent context.Context, key string, limit int64) (objstore.Object, error) {
	if err := validate(key); err != nil {
		return objstore.Object{}, err
	}
	ctx, cancel := remote.Call(parent)
	defer cancel()
	out, err := s.blob(key).DownloadStream(ctx, nil)
	if err != nil {
		return objstore.Object{}, wrap(parent, "read", key, err, nil)
	}
	body := out.NewRetryReader(ctx, &blob.RetryReaderOptions{MaxRetries: remote.MaxAttempts - 1})
	defer body.Close()
	data, err := remote.ReadAll(key, body, value(out.ContentLength), limit)
	switch {
	case errors.Is(err, objstore.ErrTooLarge):
		return objstore.Object{}, err
	case err != nil:
		return objstore.Object{}, wrap(parent, "read", key, err, nil)
	}
	return objstore.Object{Data: data, Version: versionOf(out.ETag), Modified: value(out.LastModified).UTC()}, nil
}

// Stat implements [objstore.Store].
func (s *Store) Stat(parent context.Context, key string) (objstore.Info, error) {
	if err := validate(key); err != nil {
		return objstore.Info{}, err
	}
	ctx, cancel := remote.Call(parent)
	defer cancel()
	out, err := s.blob(key).GetProperties(ctx, nil)
	if err != nil {
		return objstore.Info{}, wrap(parent, "look up", key, err, nil)
	}
	return objstore.Info{Key: key, Size: value(out.ContentLength), Version: versionOf(out.ETag), Modified: value(out.LastModified).UTC()}, nil
}

// Put implements [objstore.Store].
func (s *Store) Put(ctx context.Context, key string, data []byte) (objstore.Version, error) {
	return s.put(ctx, "write", key, data, nil, nil)
}

// PutIfAbsent implements [objstore.Store].
func (s *Store) PutIfAbsent(ctx context.Context, key string, data []byte) (objstore.Version, error) {
	return s.put(ctx, "create", key, data, objstore.ErrExist, &blob.ModifiedAccessConditions{IfNoneMatch: to.Ptr(azcore.ETagAny)})
}

// PutIfMatch implements [objstore.Store].
func (s *Store) PutIfMatch(ctx context.Context, key string, data []byte, version objstore.Version) (objstore.Version, error) {
	if version == "" {
		return "", fmt.Errorf("replace %q: %w: no version was named", key, objstore.ErrChanged)
	}
	return s.put(ctx, "replace", key, data, objstore.ErrChanged, &blob.ModifiedAccessConditions{IfMatch: to.Ptr(azcore.ETag(version))})
}

// put writes in one request; refused is what a failed condition means.
func (s *Store) put(parent context.Context, verb, key string, data []byte, refused error, condition *blob.ModifiedAccessConditions) (objstore.Version, error) {
	if err := validate(key); err != nil {
		return "", err
	}
	ctx, cancel := remote.Call(parent)
	defer cancel()
	id := rand.Text()
	out, err := s.blob(key).Upload(ctx, streaming.NopCloser(bytes.NewReader(data)), &blockblob.UploadOptions{
		Metadata:         map[string]*string{writeID: &id},
		AccessConditions: &blob.AccessConditions{ModifiedAccessConditions: condition},
	})
	if err == nil {
		return versionOf(out.ETag), nil
	}
	if conditionFailed(err) {
		version, own, lookErr := s.ownWrite(ctx, key, id)
		switch {
		case own:
			return version, nil
		case refused == objstore.ErrChanged && lookErr != nil && kindOf(lookErr, nil) == objstore.ErrNotExist:
			return "", wrap(parent, verb, key, lookErr, nil)
		}
	}
	return "", wrap(parent, verb, key, err, refused)
}

// ownWrite tells whether the object under key was written by the call with this id.
func (s *Store) ownWrite(ctx context.Context, key, id string) (version objstore.Version, own bool, err error) {
	out, err := s.blob(key).GetProperties(ctx, nil)
	if err != nil {
		return "", false, err
	}
	for name, text := range out.Metadata {
		own = own || strings.EqualFold(name, writeID) && value(text) == id
	}
	return versionOf(out.ETag), own, nil
}

// List implements [objstore.Store].
func (s *Store) List(parent context.Context, prefix string) iter.Seq2[objstore.Info, error] {
	return func(yield func(objstore.Info, error) bool) {
		if err := objstore.ValidatePrefix(prefix); err != nil {
			yield(objstore.Info{}, err)
			return
		}
		pages := s.container.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{Prefix: to.Ptr(s.at.Name(prefix)), MaxResults: to.Ptr[int32](pageSize)})
		for pages.More() {
			ctx, cancel := remote.Call(parent)
			page, err := pages.NextPage(ctx)
			cancel()
			if err != nil {
				yield(objstore.Info{}, wrap(parent, "list", prefix, err, nil))
				return
			}
			if !s.yieldPage(page.Segment, yield) {
				return
			}
		}
	}
}

func (s *Store) yieldPage(page *container.BlobFlatListSegment, yield func(objstore.Info, error) bool) bool {
	if page == nil {
		return true
	}
	for _, item := range page.BlobItems {
		if item == nil || item.Properties == nil {
			continue
		}
		key, ok := s.at.Key(value(item.Name))
		info := objstore.Info{Key: key, Size: value(item.Properties.ContentLength), Modified: value(item.Properties.LastModified).UTC()}
		if ok && !yield(info, nil) {
			return false
		}
	}
	return true
}

// Delete implements [objstore.Store].
func (s *Store) Delete(parent context.Context, key string) error {
	if err := validate(key); err != nil {
		return err
	}
	ctx, cancel := remote.Call(parent)
	defer cancel()
	_, err := s.blob(key).Delete(ctx, nil)
	if err = wrap(parent, "delete", key, err, nil); errors.Is(err, objstore.ErrNotExist) {
		return nil
	}
	return err
}

// validate refuses, beyond what every store refuses, names that Azure would change:
// dots at the end of a segment are dropped, and two keys would be one.
func validate(key string) error {
	if err := objstore.ValidateKey(key); err != nil {
		return err
	}
	if strings.HasSuffix(key, ".") || strings.Contains(key, "./") {
		return fmt.Errorf("%w %q: a segment ends in a dot, which Azure drops", objstore.ErrInvalidKey, key)
	}
	return nil
}

func (s *Store) blob(key string) *blockblob.Client {
	return s.container.NewBlockBlobClient(s.at.Name(key))
}

func versionOf(tag *azcore.ETag) objstore.Version { return objstore.Version(value(tag)) }

func value[T any](pointer *T) T {
	var zero T
	if pointer == nil {
		return zero
	}
	return *pointer
}

// conditionFailed tells whether a write was refused for its condition.
func conditionFailed(err error) bool {
	return bloberror.HasCode(err, bloberror.BlobAlreadyExists, bloberror.ConditionNotMet)
}

// wrap gives an error of the SDK its meaning. refused is what a failed condition
// means, nil if the request had none.
func wrap(parent context.Context, verb, key string, err, refused error) error {
	if err == nil {
		return nil
	}
	return remote.Wrap(parent, verb, key, kindOf(err, refused), brief(err))
}

func kindOf(err, refused error) error {
	var response *azcore.ResponseError
	switch {
	case !errors.As(err, &response):
		return objstore.ErrUnavailable
	case conditionFailed(err) && refused != nil:
		return refused
	case bloberror.HasCode(err, bloberror.ContainerNotFound, bloberror.ContainerBeingDeleted):
		return objstore.ErrUnavailable
	}
	return remote.KindOf(response.StatusCode)
}

// brief is the server's own code, or else the first line of the first cause.
func brief(err error) string {
	var response *azcore.ResponseError
	if errors.As(err, &response) {
		return strings.TrimSpace(fmt.Sprintf("%d %s %s", response.StatusCode, http.StatusText(response.StatusCode), response.ErrorCode))
	}
	text, _, _ := strings.Cut(remote.Innermost(err), "\n")
	return text
}

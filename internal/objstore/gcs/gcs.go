package gcs

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strconv"
	"strings"

	"cloud.google.com/go/storage"
	"github.com/googleapis/gax-go/v2"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/iterator"

	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/objstore/remote"
)

// pageSize is how many objects Cloud Storage lists at once.
const pageSize = 1000

// Store is an [objstore.Store] in a bucket. See [Open].
type Store struct {
	bucket *storage.BucketHandle
	at     remote.Location
	budget remote.Budget
}

var _ objstore.Store = (*Store)(nil)

// Get implements [objstore.Store].
func (s *Store) Get(parent context.Context, key string, limit int64) (objstore.Object, error) {
	if err := objstore.ValidateKey(key); err != nil {
		return objstore.Object{}, err
	}
	ctx, cancel := remote.Call(parent)
	defer cancel()
	reader, err := s.object(key).NewReader(counted(ctx))
	if err != nil {
		return objstore.Object{}, wrap(parent, "read", key, err, nil)
	}
	defer reader.Close()
	data, err := remote.ReadAll(key, reader, reader.Attrs.Size, limit)
	switch {
	case errors.Is(err, objstore.ErrTooLarge):
		return objstore.Object{}, err
	case err != nil:
		return objstore.Object{}, wrap(parent, "read", key, err, nil)
	}
	return objstore.Object{Data: data, Version: versionOf(reader.Attrs.Generation), Modified: reader.Attrs.LastModified.UTC()}, nil
}

// Stat implements [objstore.Store].
func (s *Store) Stat(parent context.Context, key string) (objstore.Info, error) {
	if err := objstore.ValidateKey(key); err != nil {
		return objstore.Info{}, err
	}
	ctx, cancel := remote.Call(parent)
	defer cancel()
	attrs, err := s.object(key).Attrs(ctx)
	if err != nil {
		return objstore.Info{}, wrap(parent, "look up", key, err, nil)
	}
	return objstore.Info{Key: key, Size: attrs.Size, Version: versionOf(attrs.Generation), Modified: attrs.Updated.UTC()}, nil
}

// Put implements [objstore.Store].
func (s *Store) Put(ctx context.Context, key string, data []byte) (objstore.Version, error) {
	return s.put(ctx, "write", key, data, storage.Conditions{})
}

// PutIfAbsent implements [objstore.Store].
func (s *Store) PutIfAbsent(ctx context.Context, key string, data []byte) (objstore.Version, error) {
	return s.put(ctx, "create", key, data, storage.Conditions{DoesNotExist: true})
}

// PutIfMatch implements [objstore.Store].
func (s *Store) PutIfMatch(ctx context.Context, key string, data []byte, version objstore.Version) (objstore.Version, error) {
	generation, err := strconv.ParseInt(string(version), 10, 64)
	if err == nil && generation > 0 {
		return s.put(ctx, "replace", key, data, storage.Conditions{GenerationMatch: generation})
	}
	if _, err := s.Stat(ctx, key); err != nil {
		return "", err
	}
	return "", fmt.Errorf("replace %q: %w: no version of this store was named", key, objstore.ErrChanged)
}

// put writes in one request, with a condition unless it is zero.
func (s *Store) put(parent context.Context, verb, key string, data []byte, condition storage.Conditions) (objstore.Version, error) {
	if err := objstore.ValidateKey(key); err != nil {
		return "", err
	}
	ctx, cancel := remote.Call(parent)
	defer cancel()
	object := s.object(key)
	if condition != (storage.Conditions{}) {
		object = object.If(condition)
	}
	id := rand.Text()
	writer := object.NewWriter(ctx)
	writer.Metadata = map[string]string{remote.WriteID: id}
	writer.ContentType = "application/octet-stream"
	writer.ChunkSize = len(data) + 1 // all of it at once, kept so that it can be sent again
	_, err := writer.Write(data)
	if closeErr := writer.Close(); err == nil || closeErr != nil {
		err = closeErr
	}
	if err == nil {
		return versionOf(writer.Attrs().Generation), nil
	}
	if statusOf(err) == http.StatusPreconditionFailed {
		return s.refused(parent, verb, key, id, condition, err)
	}
	return "", wrap(parent, verb, key, err, nil)
}

// refused tells what a failed condition means: this write's first attempt stands in
// the way, or the object was changed, was created or is gone.
func (s *Store) refused(parent context.Context, verb, key, id string, condition storage.Conditions, err error) (objstore.Version, error) {
	ctx, cancel := remote.Call(parent)
	defer cancel()
	attrs, lookErr := s.object(key).Attrs(ctx)
	if lookErr == nil && attrs.Metadata[remote.WriteID] == id {
		return versionOf(attrs.Generation), nil
	}
	switch {
	case condition.DoesNotExist:
		return "", wrap(parent, verb, key, err, objstore.ErrExist)
	case kindOf(lookErr, nil) == objstore.ErrNotExist:
		return "", wrap(parent, verb, key, lookErr, nil)
	}
	return "", wrap(parent, verb, key, err, objstore.ErrChanged)
}

// List implements [objstore.Store].
func (s *Store) List(parent context.Context, prefix string) iter.Seq2[objstore.Info, error] {
	return func(yield func(objstore.Info, error) bool) {
		if err := objstore.ValidatePrefix(prefix); err != nil {
			yield(objstore.Info{}, err)
			return
		}
		token := ""
		for {
			page, next, err := s.page(parent, prefix, token)
			if err != nil {
				yield(objstore.Info{}, wrap(parent, "list", prefix, err, nil))
				return
			}
			if !s.yieldPage(page, yield) || next == "" {
				return
			}
			token = next
		}
	}
}

// page reads what follows on a page, which the token names, "" for the first.
func (s *Store) page(parent context.Context, prefix, token string) (page []*storage.ObjectAttrs, next string, err error) {
	ctx, cancel := remote.Call(parent)
	defer cancel()
	query := &storage.Query{Prefix: s.at.Name(prefix), Projection: storage.ProjectionNoACL}
	if err := query.SetAttrSelection([]string{"Name", "Size", "Updated"}); err != nil {
		return nil, "", err
	}
	objects := s.bucket.Retryer(s.retry()...).Objects(ctx, query)
	next, err = iterator.NewPager(objects, pageSize, token).NextPage(&page)
	return page, next, err
}

func (s *Store) yieldPage(page []*storage.ObjectAttrs, yield func(objstore.Info, error) bool) bool {
	for _, attrs := range page {
		key, ok := s.at.Key(attrs.Name)
		if ok && !yield(objstore.Info{Key: key, Size: attrs.Size, Modified: attrs.Updated.UTC()}, nil) {
			return false
		}
	}
	return true
}

// Delete implements [objstore.Store].
func (s *Store) Delete(parent context.Context, key string) error {
	if err := objstore.ValidateKey(key); err != nil {
		return err
	}
	ctx, cancel := remote.Call(parent)
	defer cancel()
	err := wrap(parent, "delete", key, s.object(key).Delete(ctx), nil)
	if errors.Is(err, objstore.ErrNotExist) {
		return nil
	}
	return err
}

func (s *Store) object(key string) *storage.ObjectHandle {
	return s.bucket.Object(s.at.Name(key)).Retryer(s.retry()...)
}

// retry is for one call: how often it may retry is counted in it.
func (s *Store) retry() []storage.RetryOption {
	may := s.budget.Retries()
	return []storage.RetryOption{
		// What is sent again is the same content under the same condition.
		storage.WithPolicy(storage.RetryAlways),
		storage.WithBackoff(gax.Backoff{Initial: remote.FirstBackoff, Max: remote.MaxBackoff, Multiplier: 2}),
		storage.WithErrorFunc(func(err error) bool { return retryable(err) && may() }),
	}
}

func retryable(err error) bool {
	if status := statusOf(err); status != 0 {
		return remote.Retryable(status)
	}
	return storage.ShouldRetry(err)
}

func versionOf(generation int64) objstore.Version {
	return objstore.Version(strconv.FormatInt(generation, 10))
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
	status := statusOf(err)
	switch {
	case err == nil:
		return nil
	case status == http.StatusPreconditionFailed && refused != nil:
		return refused
	case strings.Contains(strings.ToLower(brief(err)), "bucket does not exist"):
		return objstore.ErrUnavailable // the status of a missing object is the same
	case errors.Is(err, storage.ErrObjectNotExist):
		return objstore.ErrNotExist
	}
	return remote.KindOf(status)
}

func statusOf(err error) int {
	var response *googleapi.Error
	if errors.As(err, &response) {
		return response.Code
	}
	return 0
}

// maxBrief bounds what is told of an answer that is no error of the API, such as a page
// of a proxy.
const maxBrief = 300

// brief is the server's own message, or else the first cause.
func brief(err error) string {
	var response *googleapi.Error
	if !errors.As(err, &response) {
		return remote.Innermost(err)
	}
	text := response.Message
	if text == "" {
		text = strings.TrimSpace(response.Body)
	}
	if text == "" {
		text = http.StatusText(response.Code)
	}
	return fmt.Sprintf("%d: %.*s", response.Code, maxBrief, text)
}

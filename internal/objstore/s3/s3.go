package s3

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/objstore/remote"
)

// Store is an [objstore.Store] in an S3 bucket. See [Open].
type Store struct {
	client *s3.Client
	at     remote.Location
}

var _ objstore.Store = (*Store)(nil)

// Get implements [objstore.Store].
func (s *Store) Get(parent context.Context, key string, limit int64) (objstore.Object, error) {
	if err := objstore.ValidateKey(key); err != nil {
		return objstore.Object{}, err
	}
	ctx, cancel := remote.Call(parent)
	defer cancel()
	out, err := s.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &s.at.Bucket, Key: s.key(key)})
	if err != nil {
		return objstore.Object{}, s.failed(parent, "read", key, err)
	}
	defer out.Body.Close()
	data, err := remote.ReadAll(key, out.Body, aws.ToInt64(out.ContentLength), limit)
	switch {
	case errors.Is(err, objstore.ErrTooLarge):
		return objstore.Object{}, err
	case err != nil:
		return objstore.Object{}, wrap(parent, "read", key, err, nil)
	}
	return objstore.Object{
		Data: data, Version: objstore.Version(aws.ToString(out.ETag)), Modified: aws.ToTime(out.LastModified).UTC(),
	}, nil
}

// Stat implements [objstore.Store].
func (s *Store) Stat(parent context.Context, key string) (objstore.Info, error) {
	if err := objstore.ValidateKey(key); err != nil {
		return objstore.Info{}, err
	}
	ctx, cancel := remote.Call(parent)
	defer cancel()
	out, err := s.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &s.at.Bucket, Key: s.key(key)})
	if err != nil {
		return objstore.Info{}, s.failed(parent, "look up", key, err)
	}
	return objstore.Info{
		Key: key, Size: aws.ToInt64(out.ContentLength),
		Version: objstore.Version(aws.ToString(out.ETag)), Modified: aws.ToTime(out.LastModified).UTC(),
	}, nil
}

// failed gives the error of a read its meaning. Whoever may not list the whole bucket
// is told that a key that is not there is forbidden: then the list of keys that begin
// like it, which a policy can allow, tells whether it is there.
func (s *Store) failed(parent context.Context, verb, key string, err error) error {
	failure := wrap(parent, verb, key, err, nil)
	if statusOf(err) != http.StatusForbidden {
		return failure
	}
	ctx, cancel := remote.Call(parent)
	defer cancel()
	page, listErr := s.client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: &s.at.Bucket, Prefix: s.key(key), MaxKeys: aws.Int32(1)})
	if listErr != nil || len(page.Contents) > 0 && aws.ToString(page.Contents[0].Key) == *s.key(key) {
		return failure
	}
	return fmt.Errorf("%s %q: %w", verb, key, objstore.ErrNotExist)
}

// Put implements [objstore.Store].
func (s *Store) Put(ctx context.Context, key string, data []byte) (objstore.Version, error) {
	return s.put(ctx, "write", key, data, nil, func(*s3.PutObjectInput) {})
}

// PutIfAbsent implements [objstore.Store].
func (s *Store) PutIfAbsent(ctx context.Context, key string, data []byte) (objstore.Version, error) {
	return s.put(ctx, "create", key, data, objstore.ErrExist, func(in *s3.PutObjectInput) { in.IfNoneMatch = aws.String("*") })
}

// PutIfMatch implements [objstore.Store].
func (s *Store) PutIfMatch(ctx context.Context, key string, data []byte, version objstore.Version) (objstore.Version, error) {
	if version == "" {
		return "", fmt.Errorf("replace %q: %w: no version was named", key, objstore.ErrChanged)
	}
	return s.put(ctx, "replace", key, data, objstore.ErrChanged, func(in *s3.PutObjectInput) { in.IfMatch = aws.String(string(version)) })
}

// put writes with a condition; refused is what a failed condition means.
func (s *Store) put(parent context.Context, verb, key string, data []byte, refused error, condition func(*s3.PutObjectInput)) (objstore.Version, error) {
	if err := objstore.ValidateKey(key); err != nil {
		return "", err
	}
	ctx, cancel := remote.Call(parent)
	defer cancel()
	id := rand.Text()
	in := &s3.PutObjectInput{
		Bucket: &s.at.Bucket, Key: s.key(key), Body: bytes.NewReader(data),
		ContentLength: aws.Int64(int64(len(data))), Metadata: map[string]string{remote.WriteID: id},
	}
	condition(in)
	out, err := s.client.PutObject(ctx, in)
	if err == nil {
		return objstore.Version(aws.ToString(out.ETag)), nil
	}
	if statusOf(err) == http.StatusPreconditionFailed {
		if version, ok := s.ownWrite(ctx, key, id); ok {
			return version, nil
		}
	}
	return "", wrap(parent, verb, key, err, refused)
}

// ownWrite tells whether the object under key was written by the call with this id.
func (s *Store) ownWrite(ctx context.Context, key, id string) (objstore.Version, bool) {
	out, err := s.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &s.at.Bucket, Key: s.key(key)})
	if err != nil || out.Metadata[remote.WriteID] != id {
		return "", false
	}
	return objstore.Version(aws.ToString(out.ETag)), true
}

// List implements [objstore.Store].
func (s *Store) List(parent context.Context, prefix string) iter.Seq2[objstore.Info, error] {
	return func(yield func(objstore.Info, error) bool) {
		if err := objstore.ValidatePrefix(prefix); err != nil {
			yield(objstore.Info{}, err)
			return
		}
		pages := s3.NewListObjectsV2Paginator(s.client, &s3.ListObjectsV2Input{Bucket: &s.at.Bucket, Prefix: s.key(prefix)})
		for pages.HasMorePages() {
			ctx, cancel := remote.Call(parent)
			page, err := pages.NextPage(ctx)
			cancel()
			if err != nil {
				yield(objstore.Info{}, wrap(parent, "list", prefix, err, nil))
				return
			}
			if !s.yieldPage(page, yield) {
				return
			}
		}
	}
}

func (s *Store) yieldPage(page *s3.ListObjectsV2Output, yield func(objstore.Info, error) bool) bool {
	for _, object := range page.Contents {
		key, ok := s.at.Key(aws.ToString(object.Key))
		if !ok {
			continue
		}
		info := objstore.Info{Key: key, Size: aws.ToInt64(object.Size), Modified: aws.ToTime(object.LastModified).UTC()}
		if !yield(info, nil) {
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
	_, err := s.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &s.at.Bucket, Key: s.key(key)})
	if err = wrap(parent, "delete", key, err, nil); errors.Is(err, objstore.ErrNotExist) {
		return nil
	}
	return err
}

func (s *Store) key(key string) *string { return aws.String(s.at.Name(key)) }

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
	case codeOf(err) == "NoSuchBucket":
		return objstore.ErrUnavailable
	case status == http.StatusPreconditionFailed && refused != nil:
		return refused
	}
	return remote.KindOf(status)
}

func statusOf(err error) int {
	var response interface{ HTTPStatusCode() int }
	if errors.As(err, &response) {
		return response.HTTPStatusCode()
	}
	return 0
}

func codeOf(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}

// brief is the server's own code and message, or else the first cause.
func brief(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return strings.TrimSuffix(api.ErrorCode()+": "+api.ErrorMessage(), ": ")
	}
	return remote.Innermost(err)
}

package backend

import (
	"bytes"
	"context"
	"crypto/md5" //nolint:gosec // what the protocol asks for
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
)

// maxLockInfo bounds what is read of who holds a lock.
const maxLockInfo = 64 << 10

// s3Backend keeps states as objects of a bucket, locked by an object beside each
// that is created only if it does not exist.
type s3Backend struct {
	client              *s3.Client
	bucket, key, prefix string
	acl, kmsKey         string
	customerKey         []byte
	encrypt, locking    bool
}

// Workspaces implements Backend.
func (b *s3Backend) Workspaces(ctx context.Context) ([]string, error) {
	prefix := b.prefix + "/"
	names := []string{}
	pages := s3.NewListObjectsV2Paginator(b.client, &s3.ListObjectsV2Input{Bucket: &b.bucket, Prefix: &prefix})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		var api smithy.APIError
		if errors.As(err, &api) && api.ErrorCode() == "AccessDenied" {
			break // whoever uses the default workspace only may be without the right to list
		}
		if err != nil {
			return nil, fmt.Errorf("list the objects of bucket %s: %w", b.bucket, err)
		}
		for _, object := range page.Contents {
			name, key, _ := strings.Cut(strings.TrimPrefix(aws.ToString(object.Key), prefix), "/")
			if key == b.key && name != "" {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Insert(names, 0, DefaultWorkspace), nil
}

// Store implements Backend.
func (b *s3Backend) Store(workspace string) Store {
	if workspace == DefaultWorkspace {
		return &s3Store{b, b.key}
	}
	return &s3Store{b, path.Join(b.prefix, workspace, b.key)}
}

// Delete implements Backend.
func (b *s3Backend) Delete(ctx context.Context, workspace string) error {
	if workspace == DefaultWorkspace {
		return errors.New("the default workspace cannot be deleted")
	}
	key := path.Join(b.prefix, workspace, b.key)
	if _, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.bucket, Key: &key}); err != nil {
		return fmt.Errorf("delete workspace: %w", err)
	}
	return nil
}

// s3Store is the state of one workspace.
type s3Store struct {
	*s3Backend
	key string
}

// String implements Store.
func (s *s3Store) String() string { return "s3://" + s.bucket + "/" + s.key }

func (s *s3Store) lockKey() string { return s.key + ".tflock" }

// Lock implements Store.
func (s *s3Store) Lock(ctx context.Context, info LockInfo) error {
	if !s.locking {
		return nil
	}
	info.Path = s.bucket + "/" + s.key
	data, err := json.Marshal(info)
	if err != nil {
		return fmt.Errorf("encode lock: %w", err)
	}
	put := s.put(s.lockKey(), data)
	put.IfNoneMatch = aws.String("*")
	_, err = s.client.PutObject(ctx, put)
	if err == nil {
		return nil
	}
	var api smithy.APIError
	if errors.As(err, &api) && slices.Contains([]string{"PreconditionFailed", "ConditionalRequestConflict"}, api.ErrorCode()) {
		holder, _ := s.get(ctx, s.lockKey(), maxLockInfo) // gone or unreadable means unknown
		return &LockError{Holder: parseLockInfo(holder), Reason: fmt.Errorf("the object %s exists", s.lockKey())}
	}
	return fmt.Errorf("lock state: %w", err)
}

// Unlock implements Store.
func (s *s3Store) Unlock(ctx context.Context, id string) error {
	if !s.locking {
		return nil
	}
	data, err := s.get(ctx, s.lockKey(), maxLockInfo)
	if err != nil {
		return fmt.Errorf("unlock state: %w", err)
	}
	info := parseLockInfo(data)
	switch {
	case data == nil:
		return fmt.Errorf("unlock state: there is no lock %s", s.lockKey())
	case info == nil || info.ID != id:
		return fmt.Errorf("unlock state: %w", &LockError{Holder: info, Reason: fmt.Errorf("the lock is not the one with ID %s", id)})
	}
	if _, err := s.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &s.bucket, Key: aws.String(s.lockKey())}); err != nil {
		return fmt.Errorf("unlock state: %w", err)
	}
	return nil
}

// Read implements Store.
func (s *s3Store) Read(ctx context.Context) ([]byte, error) {
	data, err := s.get(ctx, s.key, maxState)
	if err != nil {
		return nil, fmt.Errorf("read state: %w", err)
	}
	return data, nil
}

// Write implements Store.
func (s *s3Store) Write(ctx context.Context, data []byte) error {
	if _, err := s.client.PutObject(ctx, s.put(s.key, data)); err != nil {
		return fmt.Errorf("write state: %w", err)
	}
	return nil
}

// put is the request that writes an object as the block says.
func (s *s3Store) put(key string, data []byte) *s3.PutObjectInput {
	put := &s3.PutObjectInput{
		Bucket: &s.bucket, Key: &key, Body: bytes.NewReader(data), ContentLength: aws.Int64(int64(len(data))),
		ContentType: aws.String("application/json"), ACL: types.ObjectCannedACL(s.acl),
	}
	switch {
	case len(s.customerKey) > 0:
		put.SSECustomerAlgorithm, put.SSECustomerKey, put.SSECustomerKeyMD5 = s.customerEncryption()
	case s.encrypt && s.kmsKey != "":
		put.SSEKMSKeyId, put.ServerSideEncryption = &s.kmsKey, types.ServerSideEncryptionAwsKms
	case s.encrypt:
		put.ServerSideEncryption = types.ServerSideEncryptionAes256
	}
	return put
}

func (s *s3Store) customerEncryption() (algorithm, key, sum *string) {
	if len(s.customerKey) == 0 {
		return nil, nil, nil
	}
	digest := md5.Sum(s.customerKey) //nolint:gosec // what the protocol asks for
	encode := base64.StdEncoding.EncodeToString
	return aws.String("AES256"), aws.String(encode(s.customerKey)), aws.String(encode(digest[:]))
}

// get returns an object's content, or nil if there is none.
func (s *s3Store) get(ctx context.Context, key string, limit int64) ([]byte, error) {
	req := &s3.GetObjectInput{Bucket: &s.bucket, Key: &key}
	req.SSECustomerAlgorithm, req.SSECustomerKey, req.SSECustomerKeyMD5 = s.customerEncryption()
	resp, err := s.client.GetObject(ctx, req)
	var missing *types.NoSuchKey
	if errors.As(err, &missing) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("the object %s has more than %d bytes", key, limit)
	}
	return data, err
}

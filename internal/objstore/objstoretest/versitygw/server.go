package versitygw

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest/process"
)

// The region that the server answers for.
const region = "us-east-1"

// Server is a running S3 server. Its data stays in its folder when it stops.
type Server struct {
	// Endpoint is the server's URL on the loopback interface.
	Endpoint string
	// AccessKey and SecretKey are credentials that may do everything.
	AccessKey, SecretKey string

	dir     string
	process *process.Process
}

// command is built from the module in tools/.
const command = "github.com/versity/versitygw/cmd/versitygw"

// Start builds the server if needed and starts it over dir on a free port. The
// file system under dir must have extended attributes.
func Start(ctx context.Context, dir string) (*Server, error) {
	binary, err := process.BuildTool(ctx, command)
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "buckets")
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, fmt.Errorf("start versitygw: %w", err)
	}
	s := &Server{AccessKey: "test", SecretKey: rand.Text(), dir: data}
	s.process, err = process.Start(ctx, "", func(address string) *exec.Cmd {
		// Metadata stay in extended attributes: the gateway's other way of keeping them
		// lets a reader see the old content with the new ETag.
		cmd := exec.Command(binary, "--port", address, "--region", region, "--quiet", "posix", data)
		cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+s.AccessKey, "ROOT_SECRET_KEY="+s.SecretKey)
		return cmd
	})
	if err != nil {
		return nil, fmt.Errorf("start versitygw: %w", err)
	}
	s.Endpoint = s.process.Endpoint
	return s, nil
}

// Stop ends the server and waits until it is gone. A second call does nothing.
func (s *Server) Stop() { s.process.Stop() }

// Dir is the folder that the server was started over.
func (s *Server) Dir() string { return filepath.Dir(s.dir) }

// CreateBucket makes a bucket, which is a folder of the server's.
func (s *Server) CreateBucket(name string) error {
	if err := os.Mkdir(filepath.Join(s.dir, name), 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("create bucket: %w", err)
	}
	return nil
}

// StoreURL is the URL of a store in a bucket.
func (s *Server) StoreURL(bucket, prefix string) string { return StoreURL(s.Endpoint, bucket, prefix) }

// StoreURL is the URL of a store in a bucket behind an endpoint, such as a proxy's.
func StoreURL(endpoint, bucket, prefix string) string {
	query := url.Values{"endpoint": {endpoint}, "region": {region}, "path_style": {"true"}}
	return (&url.URL{Scheme: "s3", Host: bucket, Path: "/" + prefix, RawQuery: query.Encode()}).String()
}

// Env returns the environment variables with which AWS SDKs reach the server.
func (s *Server) Env() map[string]string {
	return map[string]string{
		"AWS_ACCESS_KEY_ID": s.AccessKey, "AWS_SECRET_ACCESS_KEY": s.SecretKey,
		"AWS_REGION": region, "AWS_ENDPOINT_URL_S3": s.Endpoint,
		"AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	}
}

// Setenv sets [Server.Env] for this process, as a TestMain needs it.
func (s *Server) Setenv() error {
	for name, value := range s.Env() {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return nil
}

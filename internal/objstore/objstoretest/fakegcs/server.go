package fakegcs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest/process"
)

const command = "github.com/fsouza/fake-gcs-server"

// Server is a running server. What it keeps is gone when it stops.
type Server struct{ *process.Process }

// Start builds the server if needed and starts it on a free port.
func Start(ctx context.Context) (*Server, error) {
	binary, err := process.BuildTool(ctx, command)
	if err != nil {
		return nil, err
	}
	p, err := process.Start(ctx, "/storage/v1/b", func(address string) *exec.Cmd {
		host, port, _ := strings.Cut(address, ":")
		return exec.Command(binary, "-scheme", "http", "-host", host, "-port", port, "-backend", "memory", "-public-host", address, "-log-level", "error")
	})
	if err != nil {
		return nil, fmt.Errorf("start fake-gcs-server: %w", err)
	}
	return &Server{p}, nil
}

// CreateBucket makes a bucket.
func (s *Server) CreateBucket(ctx context.Context, name string) error {
	body, err := json.Marshal(map[string]string{"name": name})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.Endpoint+"/storage/v1/b", bytes.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("create bucket: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("create bucket: the server answered %s", resp.Status)
	}
	return nil
}

// StoreURL is the URL of a store in a bucket.
func (s *Server) StoreURL(bucket, prefix string) string { return StoreURL(s.Endpoint, bucket, prefix) }

// StoreURL is the URL of a store in a bucket behind an endpoint, such as a proxy's.
func StoreURL(endpoint, bucket, prefix string) string {
	query := url.Values{"endpoint": {endpoint}, "anonymous": {"true"}}
	return (&url.URL{Scheme: "gs", Host: bucket, Path: "/" + prefix, RawQuery: query.Encode()}).String()
}

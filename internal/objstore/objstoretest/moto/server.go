package moto

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest/process"
	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest/versitygw"
)

// Server is a running server. What it keeps is gone when it stops.
type Server struct{ *process.Process }

// Start starts moto_server, or the module if the program is not on the PATH, on a free port.
func Start(ctx context.Context) (*Server, error) {
	program := []string{"moto_server"}
	if _, err := exec.LookPath(program[0]); err != nil {
		program = []string{"python3", "-m", "moto.server"}
	}
	p, err := process.Start(ctx, "/moto-api/", func(address string) *exec.Cmd {
		host, port, _ := strings.Cut(address, ":")
		cmd := exec.Command(program[0], append(program[1:], "-H", host, "-p", port)...)
		cmd.Env = append(os.Environ(), "PYTHONWARNINGS=ignore")
		return cmd
	})
	if err != nil {
		return nil, fmt.Errorf("start the mock of AWS: %w; install it with: pip install 'moto[server]'", err)
	}
	return &Server{p}, nil
}

// CreateBucket makes a bucket.
func (s *Server) CreateBucket(ctx context.Context, name string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, s.Endpoint+"/"+name, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err == nil {
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			err = errors.New(resp.Status)
		}
	}
	if err != nil {
		return fmt.Errorf("create bucket: %w", err)
	}
	return nil
}

// StoreURL is the URL of a store in a bucket.
func (s *Server) StoreURL(bucket, prefix string) string {
	return versitygw.StoreURL(s.Endpoint, bucket, prefix)
}

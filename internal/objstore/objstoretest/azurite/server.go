package azurite

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest/process"
)

// The account that every Azurite has, and its key, which is published.
const (
	account = "devstoreaccount1"
	key     = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)

// Server is a running server. What it keeps is gone when it stops.
type Server struct{ *process.Process }

// Start installs the server if needed and starts it on a free port.
func Start(ctx context.Context) (*Server, error) {
	script, err := Install(ctx)
	if err != nil {
		return nil, err
	}
	p, err := process.Start(ctx, "", func(address string) *exec.Cmd {
		host, port, _ := strings.Cut(address, ":")
		return exec.Command("node", script, "--blobHost", host, "--blobPort", port, "--inMemoryPersistence", "--silent", "--disableTelemetry", "--skipApiVersionCheck")
	})
	if err != nil {
		return nil, fmt.Errorf("start Azurite: %w", err)
	}
	return &Server{p}, nil
}

// CreateContainer makes a container.
func (s *Server) CreateContainer(ctx context.Context, name string) error {
	client, err := container.NewClientFromConnectionString(s.ConnectionString(), name, nil)
	if err == nil {
		_, err = client.Create(ctx, nil)
	}
	if err != nil {
		return fmt.Errorf("create container: %w", err)
	}
	return nil
}

// ConnectionString is what AZURE_STORAGE_CONNECTION_STRING holds for this server.
func (s *Server) ConnectionString() string {
	return fmt.Sprintf("DefaultEndpointsProtocol=http;AccountName=%s;AccountKey=%s;BlobEndpoint=%s/%s;", account, key, s.Endpoint, account)
}

// Setenv sets the credentials for this process and those it starts, as a TestMain needs it.
func (s *Server) Setenv() error { return os.Setenv("AZURE_STORAGE_KEY", key) }

// StoreURL is the URL of a store in a container.
func (s *Server) StoreURL(name, prefix string) string { return StoreURL(s.Endpoint, name, prefix) }

// StoreURL is the URL of a store in a container behind an endpoint, such as a proxy's.
func StoreURL(endpoint, name, prefix string) string {
	query := url.Values{"endpoint": {endpoint + "/" + account}, "account": {account}}
	return (&url.URL{Scheme: "azblob", Host: name, Path: "/" + prefix, RawQuery: query.Encode()}).String()
}

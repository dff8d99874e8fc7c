package gcs

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"cloud.google.com/go/storage"
	"google.golang.org/api/option"
	transport "google.golang.org/api/transport/http"

	"github.com/towline/terraform-provider-towline/internal/objstore/remote"
)

var form = remote.Form{
	Scheme: "gs", Bucket: "BUCKET", Credentials: "Google's application default credentials",
	Parameters: map[string]remote.Parameter{"endpoint": remote.Endpoint, "anonymous": remote.Flag},
}

// Open opens gs://BUCKET/PREFIX?endpoint=&anonymous=true. It makes no request to the
// bucket, so a missing bucket or permission shows at the first use.
func Open(ctx context.Context, rawURL string) (*Store, error) {
	at, err := remote.Parse(rawURL, form)
	if err != nil {
		return nil, fmt.Errorf("open Google Cloud Storage: %w", err)
	}
	client, err := newClient(ctx, at)
	if err != nil {
		return nil, fmt.Errorf("open Google Cloud Storage: %w", err)
	}
	return &Store{bucket: client.Bucket(at.Bucket), at: at, budget: remote.NewBudget()}, nil
}

// newClient makes a client whose connections are bounded, which the SDK's own are not.
func newClient(ctx context.Context, at remote.Location) (*storage.Client, error) {
	ctx = context.WithoutCancel(ctx) // credentials are renewed long after the opening
	var roundTripper http.RoundTripper = remote.NewTransport()
	if !at.Flag("anonymous") && os.Getenv("STORAGE_EMULATOR_HOST") == "" {
		authenticated, err := transport.NewTransport(ctx, roundTripper, option.WithScopes(storage.ScopeReadWrite))
		if err != nil {
			return nil, fmt.Errorf("find credentials: %w", err)
		}
		roundTripper = authenticated
	}
	options := []option.ClientOption{option.WithHTTPClient(&http.Client{Transport: counting{roundTripper}}), option.WithUserAgent(remote.UserAgent), storage.WithJSONReads()}
	if endpoint := at.Parameter("endpoint"); endpoint != "" {
		options = append(options, option.WithEndpoint(endpoint+"/storage/v1/"))
	}
	return storage.NewClient(ctx, options...)
}

// URL returns the URL that opens the store again.
func (s *Store) URL() string { return s.at.URL() }

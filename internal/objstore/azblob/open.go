package azblob

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/towline/terraform-provider-towline/internal/objstore/remote"
)

var form = remote.Form{
	Scheme: "azblob", Bucket: "CONTAINER", Credentials: "AZURE_STORAGE_KEY, AZURE_STORAGE_SAS_TOKEN, az login or a managed identity",
	Parameters: map[string]remote.Parameter{"account": remote.Text, "endpoint": remote.Endpoint, "anonymous": remote.Flag},
}

// Open opens azblob://CONTAINER/PREFIX?account=&endpoint=&anonymous=true. It makes no
// request to the container, so a missing one or a missing permission shows at the first use.
func Open(_ context.Context, rawURL string) (*Store, error) {
	at, err := remote.Parse(rawURL, form)
	if err != nil {
		return nil, fmt.Errorf("open Azure Blob Storage: %w", err)
	}
	client, err := newClient(at, clientOptions(remote.NewBudget()))
	if err != nil {
		return nil, fmt.Errorf("open Azure Blob Storage: %w", err)
	}
	return &Store{container: client, at: at}, nil
}

func clientOptions(budget remote.Budget) *container.ClientOptions {
	return &container.ClientOptions{ClientOptions: azcore.ClientOptions{
		Transport: &http.Client{Transport: remote.NewTransport()},
		Telemetry: policy.TelemetryOptions{ApplicationID: remote.UserAgent},
		Retry: policy.RetryOptions{
			MaxRetries: remote.MaxAttempts - 1, RetryDelay: remote.FirstBackoff, MaxRetryDelay: remote.MaxBackoff,
			ShouldRetry: func(resp *http.Response, _ error) bool { return retryable(resp) && budget.Allow() },
		},
	}}
}

// retryable tells whether to send a request again: after an answer that asks for it, or
// if there was none. A conflict is Azure's word for an object that exists.
func retryable(resp *http.Response) bool {
	return resp == nil || resp.StatusCode != http.StatusConflict && remote.Retryable(resp.StatusCode)
}

func newClient(at remote.Location, options *container.ClientOptions) (*container.Client, error) {
	account, endpoint := at.Parameter("account"), at.Parameter("endpoint")
	if connection := os.Getenv("AZURE_STORAGE_CONNECTION_STRING"); connection != "" && account == "" && endpoint == "" {
		client, err := container.NewClientFromConnectionString(connection, at.Bucket, options)
		if err != nil {
			return nil, errors.New("the connection string in AZURE_STORAGE_CONNECTION_STRING cannot be used") // it holds the key
		}
		return client, nil
	}
	account = cmp.Or(account, os.Getenv("AZURE_STORAGE_ACCOUNT"))
	if account == "" && endpoint == "" {
		return nil, errors.New("the account is missing; write azblob://CONTAINER/PREFIX?account=NAME, or set AZURE_STORAGE_ACCOUNT")
	}
	endpoint = strings.TrimSuffix(cmp.Or(endpoint, "https://"+account+".blob.core.windows.net"), "/")
	return authenticate(endpoint+"/"+url.PathEscape(at.Bucket), account, at.Flag("anonymous"), options)
}

// authenticate makes the client with the first credentials that are there.
func authenticate(containerURL, account string, anonymous bool, options *container.ClientOptions) (*container.Client, error) {
	key, signature := os.Getenv("AZURE_STORAGE_KEY"), os.Getenv("AZURE_STORAGE_SAS_TOKEN")
	switch {
	case anonymous:
		return container.NewClientWithNoCredential(containerURL, options)
	case key != "":
		credential, err := container.NewSharedKeyCredential(account, key)
		if err != nil {
			return nil, errors.New("the key in AZURE_STORAGE_KEY is not base64")
		}
		return container.NewClientWithSharedKeyCredential(containerURL, credential, options)
	case signature != "":
		return container.NewClientWithNoCredential(containerURL+"?"+strings.TrimPrefix(signature, "?"), options)
	}
	credential, err := azidentity.NewDefaultAzureCredential(nil)
	if err != nil {
		return nil, fmt.Errorf("find credentials: %w", err)
	}
	return container.NewClient(containerURL, credential, options)
}

// URL returns the URL that opens the store again.
func (s *Store) URL() string { return s.at.URL() }

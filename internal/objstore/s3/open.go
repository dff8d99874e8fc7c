package s3

import (
	"context"
	"fmt"
	"net"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/towline/terraform-provider-towline/internal/objstore/remote"
)

// conflictCodes are answers that ask for the same request again: S3 gives them
// when a concurrent write to the key was under way.
var conflictCodes = []string{"ConditionalRequestConflict", "OperationAborted"}

var form = remote.Form{
	Scheme: "s3", Bucket: "BUCKET", Credentials: "the AWS environment variables, profile or role",
	Parameters: map[string]remote.Parameter{"region": remote.Text, "endpoint": remote.Endpoint, "path_style": remote.Flag},
}

// Open opens s3://BUCKET/PREFIX?region=&endpoint=&path_style=true. It makes no
// request, so a missing bucket or permission shows at the first use.
func Open(ctx context.Context, rawURL string) (*Store, error) {
	at, err := remote.Parse(rawURL, form)
	if err != nil {
		return nil, fmt.Errorf("open S3 store: %w", err)
	}
	cfg, err := config.LoadDefaultConfig(ctx, sdkOptions(at)...)
	if err != nil {
		return nil, fmt.Errorf("open S3 store: load AWS configuration: %w", err)
	}
	client := s3.NewFromConfig(cfg, func(o *s3.Options) {
		o.UsePathStyle = at.Flag("path_style")
		if endpoint := at.Parameter("endpoint"); endpoint != "" {
			o.BaseEndpoint = aws.String(endpoint)
		}
	})
	return &Store{client: client, at: at}, nil
}

func sdkOptions(at remote.Location) []func(*config.LoadOptions) error {
	options := []func(*config.LoadOptions) error{
		config.WithRetryer(newRetryer),
		config.WithHTTPClient(newHTTPClient()),
		config.WithAppID(remote.UserAgent),
		// Many servers other than Amazon's reject the newer trailing checksums.
		config.WithRequestChecksumCalculation(aws.RequestChecksumCalculationWhenRequired),
		config.WithResponseChecksumValidation(aws.ResponseChecksumValidationWhenRequired),
	}
	if region := at.Parameter("region"); region != "" {
		return append(options, config.WithRegion(region))
	}
	return append(options, config.WithDefaultRegion("us-east-1"))
}

// newRetryer retries within the bounds of one call; the SDK's own budget bounds the
// retries of all calls together.
func newRetryer() aws.Retryer {
	return retry.AddWithErrorCodes(retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = remote.MaxAttempts
		o.MaxBackoff = remote.MaxBackoff
	}), conflictCodes...)
}

func newHTTPClient() *awshttp.BuildableClient {
	return awshttp.NewBuildableClient().
		WithDialerOptions(func(d *net.Dialer) { d.Timeout = remote.DialTimeout }).
		WithTransportOptions(func(t *http.Transport) { t.ResponseHeaderTimeout = remote.HeaderTimeout })
}

// URL returns the URL that opens the store again.
func (s *Store) URL() string { return s.at.URL() }

package s3

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/towline/terraform-provider-towline/internal/objstore"
)

// Bounds of one call. Objects are small; a call that takes longer is better
// given up, so that the caller can go on with what it has.
const (
	maxAttempts = 4
	maxBackoff  = 5 * time.Second
	// callTimeout ends a call with all its attempts.
	callTimeout = 2 * time.Minute
	dialTimeout = 10 * time.Second
	// headerTimeout is how long a server may take to begin its answer.
	headerTimeout = 20 * time.Second
)

// conflictCodes are answers that ask for the same request again: S3 gives them
// when a concurrent write to the key was under way.
var conflictCodes = []string{"ConditionalRequestConflict", "OperationAborted"}

// location is what a store's URL says.
type location struct {
	bucket, prefix   string
	region, endpoint string
	pathStyle        bool
}

// Open opens s3://BUCKET/PREFIX?region=&endpoint=&path_style=true. It makes no
// request, so a missing bucket or permission shows at the first use.
func Open(ctx context.Context, rawURL string) (*Store, error) {
	at, err := parse(rawURL)
	if err != nil {
		return nil, fmt.Errorf("open S3 store: %w", err)
	}
	cfg, err := config.LoadDefaultConfig(ctx, at.sdkOptions()...)
	if err != nil {
		return nil, fmt.Errorf("open S3 store: load AWS configuration: %w", err)
	}
	client := s3.NewFromConfig(cfg, func(o *s3.Options) {
		o.UsePathStyle = at.pathStyle
		if at.endpoint != "" {
			o.BaseEndpoint = aws.String(at.endpoint)
		}
	})
	return &Store{client: client, at: at}, nil
}

func (at location) sdkOptions() []func(*config.LoadOptions) error {
	options := []func(*config.LoadOptions) error{
		config.WithRetryer(newRetryer),
		config.WithHTTPClient(newHTTPClient()),
		// Many servers other than Amazon's reject the newer trailing checksums.
		config.WithRequestChecksumCalculation(aws.RequestChecksumCalculationWhenRequired),
		config.WithResponseChecksumValidation(aws.ResponseChecksumValidationWhenRequired),
	}
	if at.region != "" {
		return append(options, config.WithRegion(at.region))
	}
	return append(options, config.WithDefaultRegion("us-east-1"))
}

func newRetryer() aws.Retryer {
	return retry.AddWithErrorCodes(retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = maxAttempts
		o.MaxBackoff = maxBackoff
	}), conflictCodes...)
}

func newHTTPClient() *awshttp.BuildableClient {
	return awshttp.NewBuildableClient().
		WithDialerOptions(func(d *net.Dialer) { d.Timeout = dialTimeout }).
		WithTransportOptions(func(t *http.Transport) { t.ResponseHeaderTimeout = headerTimeout })
}

func parse(rawURL string) (location, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return location{}, fmt.Errorf("the URL cannot be parsed") // the error may quote a secret
	}
	at := location{bucket: u.Host, prefix: strings.Trim(u.Path, "/")}
	switch {
	case u.Scheme != "s3" || at.bucket == "":
		return location{}, fmt.Errorf("the URL must have the form s3://BUCKET/PREFIX")
	case u.User != nil:
		return location{}, fmt.Errorf("the URL must not hold credentials; use the AWS environment variables, profile or role")
	}
	if at.prefix != "" {
		if err := objstore.ValidateKey(at.prefix); err != nil {
			return location{}, fmt.Errorf("the URL's prefix is not usable: %w", err)
		}
	}
	return at, at.parseQuery(u.Query())
}

func (at *location) parseQuery(query url.Values) error {
	for name, values := range query {
		value := values[len(values)-1]
		switch name {
		case "region":
			at.region = value
		case "endpoint":
			endpoint, err := url.Parse(value)
			if err != nil || endpoint.Host == "" || endpoint.User != nil {
				return fmt.Errorf("the endpoint must be a URL such as https://s3.example.com, without credentials")
			}
			at.endpoint = value
		case "path_style":
			pathStyle, err := strconv.ParseBool(value)
			if err != nil {
				return fmt.Errorf("path_style must be true or false")
			}
			at.pathStyle = pathStyle
		default:
			return fmt.Errorf("the URL's parameter %q is not known; region, endpoint and path_style are", name)
		}
	}
	return nil
}

// URL returns the URL that opens the store again.
func (s *Store) URL() string {
	query := url.Values{}
	if s.at.region != "" {
		query.Set("region", s.at.region)
	}
	if s.at.endpoint != "" {
		query.Set("endpoint", s.at.endpoint)
	}
	if s.at.pathStyle {
		query.Set("path_style", "true")
	}
	u := url.URL{Scheme: "s3", Host: s.at.bucket, RawQuery: query.Encode()}
	if s.at.prefix != "" {
		u.Path = "/" + s.at.prefix
	}
	return u.String()
}

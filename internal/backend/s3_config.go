package backend

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	ststypes "github.com/aws/aws-sdk-go-v2/service/sts/types"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// headerTimeout is how long a server may take to begin its answer.
const headerTimeout = 30 * time.Second

func openS3(ctx context.Context, s Settings) (Backend, tfdiags.Diagnostics) {
	if diags := refuseS3(s); diags.HasErrors() {
		return nil, diags
	}
	cfg, err := awsConfig(ctx, s)
	if err == nil {
		err = checkAccount(ctx, s, cfg)
	}
	b := &s3Backend{
		bucket: s.text("bucket"), key: s.text("key"), prefix: cmp.Or(s.text("workspace_key_prefix"), "env:"),
		acl: s.text("acl"), encrypt: s.flag("encrypt"), kmsKey: s.text("kms_key_id"), locking: s.flag("use_lockfile"),
	}
	if err == nil {
		b.customerKey, err = base64.StdEncoding.DecodeString(s.textOr("sse_customer_key", "AWS_SSE_CUSTOMER_KEY"))
	}
	if err != nil {
		return nil, tfdiags.FromError("Failed to configure the s3 backend", err)
	}
	b.client = s3.NewFromConfig(cfg, func(o *s3.Options) {
		o.UsePathStyle = s.flag("use_path_style") || s.flag("force_path_style")
		if endpoint := s.endpoint("s3", "endpoint", "AWS_S3_ENDPOINT"); endpoint != "" {
			o.BaseEndpoint = aws.String(endpoint)
		}
	})
	return b, nil
}

// endpoint returns the URL of a service: from endpoints, from the older argument or from the environment.
func (s Settings) endpoint(service, older string, variables ...string) string {
	return cmp.Or(textOf(s.Value.GetAttr("endpoints"), service), s.textOr(older, variables...))
}

func awsConfig(ctx context.Context, s Settings) (aws.Config, error) {
	region := s.textOr("region", "AWS_REGION", "AWS_DEFAULT_REGION")
	if region == "" {
		return aws.Config{}, errors.New("the region is missing: set region in the backend block, or AWS_REGION")
	}
	client, err := httpClient(s)
	if err != nil {
		return aws.Config{}, err
	}
	options := append(sourceOptions(s), config.WithRegion(region), config.WithHTTPClient(client),
		// Many servers other than Amazon's reject the newer trailing checksums.
		config.WithRequestChecksumCalculation(aws.RequestChecksumCalculationWhenRequired),
		config.WithResponseChecksumValidation(aws.ResponseChecksumValidationWhenRequired))
	if path := s.textOr("custom_ca_bundle", "AWS_CA_BUNDLE"); path != "" {
		bundle, err := os.ReadFile(path)
		if err != nil {
			return aws.Config{}, fmt.Errorf("read custom_ca_bundle: %w", err)
		}
		options = append(options, config.WithCustomCABundle(bytes.NewReader(bundle)))
	}
	cfg, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return aws.Config{}, fmt.Errorf("load AWS configuration: %w", err)
	}
	return cfg, assumeRoles(s, &cfg)
}

// sourceOptions say where credentials and settings come from.
func sourceOptions(s Settings) []func(*config.LoadOptions) error {
	var options []func(*config.LoadOptions) error
	add := func(when bool, option func(*config.LoadOptions) error) {
		if when {
			options = append(options, option)
		}
	}
	add(s.set("access_key"), config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider(s.text("access_key"), s.text("secret_key"), s.text("token"))))
	add(s.set("profile"), config.WithSharedConfigProfile(s.text("profile")))
	add(s.set("shared_config_files"), config.WithSharedConfigFiles(s.list("shared_config_files")))
	files := s.list("shared_credentials_files")
	if one := s.text("shared_credentials_file"); one != "" {
		files = append(files, one)
	}
	add(len(files) > 0, config.WithSharedCredentialsFiles(files))
	add(s.set("retry_mode"), config.WithRetryMode(aws.RetryMode(s.text("retry_mode"))))
	retries := 5
	if s.set("max_retries") {
		n, _ := s.Value.GetAttr("max_retries").AsBigFloat().Int64()
		retries = int(n)
	}
	add(true, config.WithRetryMaxAttempts(max(1, retries)))
	add(s.flag("skip_metadata_api_check"), config.WithEC2IMDSClientEnableState(imds.ClientDisabled))
	add(s.set("ec2_metadata_service_endpoint"), config.WithEC2IMDSEndpoint(s.text("ec2_metadata_service_endpoint")))
	add(s.flag("use_dualstack_endpoint"), config.WithUseDualStackEndpoint(aws.DualStackEndpointStateEnabled))
	add(s.flag("use_fips_endpoint"), config.WithUseFIPSEndpoint(aws.FIPSEndpointStateEnabled))
	return options
}

func httpClient(s Settings) (*awshttp.BuildableClient, error) {
	proxies := map[string]*url.URL{}
	for scheme, name := range map[string]string{"http": "http_proxy", "https": "https_proxy"} {
		if text := s.text(name); text != "" {
			u, err := url.Parse(text)
			if err != nil {
				return nil, fmt.Errorf("the argument %s is not a URL", name) // the error may quote a secret
			}
			proxies[scheme] = u
		}
	}
	return awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		t.ResponseHeaderTimeout = headerTimeout
		if len(proxies) > 0 {
			t.Proxy = func(r *http.Request) (*url.URL, error) { return proxies[r.URL.Scheme], nil }
		}
		if s.flag("insecure") {
			t.TLSClientConfig = &tls.Config{InsecureSkipVerify: true} //nolint:gosec // what the user asks for by name
		}
	}), nil
}

func stsClient(s Settings, cfg aws.Config) *sts.Client {
	return sts.NewFromConfig(cfg, func(o *sts.Options) {
		if endpoint := s.endpoint("sts", "sts_endpoint", "AWS_STS_ENDPOINT"); endpoint != "" {
			o.BaseEndpoint = aws.String(endpoint)
		}
		if region := s.text("sts_region"); region != "" {
			o.Region = region
		}
	})
}

// assumeRoles exchanges the credentials for those of the roles that are asked for.
func assumeRoles(s Settings, cfg *aws.Config) error {
	if role := s.Value.GetAttr("assume_role_with_web_identity"); !role.IsNull() {
		provider, err := webIdentity(s, *cfg, role)
		if err != nil {
			return err
		}
		cfg.Credentials = aws.NewCredentialsCache(provider)
	}
	role := s.Value.GetAttr("assume_role")
	if role.IsNull() {
		return nil
	}
	duration, err := durationOf(role)
	if err != nil {
		return err
	}
	cfg.Credentials = aws.NewCredentialsCache(stscreds.NewAssumeRoleProvider(stsClient(s, *cfg), textOf(role, "role_arn"), func(o *stscreds.AssumeRoleOptions) {
		o.Duration = duration
		o.RoleSessionName = cmp.Or(textOf(role, "session_name"), o.RoleSessionName)
		o.ExternalID, o.SourceIdentity, o.Policy = optional(role, "external_id"), optional(role, "source_identity"), optional(role, "policy")
		o.PolicyARNs, o.TransitiveTagKeys = policies(role), listOf(role, "transitive_tag_keys")
		for key, value := range mapOf(role, "tags") {
			o.Tags = append(o.Tags, ststypes.Tag{Key: aws.String(key), Value: aws.String(value)})
		}
	}))
	return nil
}

func webIdentity(s Settings, cfg aws.Config, role cty.Value) (aws.CredentialsProvider, error) {
	duration, err := durationOf(role)
	if err != nil {
		return nil, err
	}
	var token stscreds.IdentityTokenRetriever = staticToken(textOf(role, "web_identity_token"))
	if path := textOf(role, "web_identity_token_file"); path != "" {
		token = stscreds.IdentityTokenFile(path)
	}
	return stscreds.NewWebIdentityRoleProvider(stsClient(s, cfg), textOf(role, "role_arn"), token, func(o *stscreds.WebIdentityRoleOptions) {
		o.Duration = duration
		o.RoleSessionName, o.Policy, o.PolicyARNs = textOf(role, "session_name"), optional(role, "policy"), policies(role)
	}), nil
}

type staticToken string

// GetIdentityToken implements stscreds.IdentityTokenRetriever.
func (t staticToken) GetIdentityToken() ([]byte, error) { return []byte(t), nil }

func durationOf(role cty.Value) (time.Duration, error) {
	text := textOf(role, "duration")
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("the duration of the role is not one: %w", err)
	}
	return d, nil
}

func optional(object cty.Value, name string) *string {
	if text := textOf(object, name); text != "" {
		return &text
	}
	return nil
}

func policies(role cty.Value) []ststypes.PolicyDescriptorType {
	var out []ststypes.PolicyDescriptorType
	for _, arn := range listOf(role, "policy_arns") {
		out = append(out, ststypes.PolicyDescriptorType{Arn: aws.String(arn)})
	}
	return out
}

// checkAccount holds the credentials' account against the lists of the block.
func checkAccount(ctx context.Context, s Settings, cfg aws.Config) error {
	allowed, forbidden := s.list("allowed_account_ids"), s.list("forbidden_account_ids")
	if len(allowed) == 0 && len(forbidden) == 0 {
		return nil
	}
	identity, err := stsClient(s, cfg).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return fmt.Errorf("find out the account of the credentials: %w", err)
	}
	account := aws.ToString(identity.Account)
	if slices.Contains(forbidden, account) || (len(allowed) > 0 && !slices.Contains(allowed, account)) {
		return fmt.Errorf("the AWS account %s is not allowed by allowed_account_ids and forbidden_account_ids", account)
	}
	return nil
}

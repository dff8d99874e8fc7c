package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
)

// awsVariables are what tells that a process outside of AWS has credentials for it.
var awsVariables = []string{"AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"}

// awsCredentials are those that an agent's store and providers find, nil if neither is
// known to use any: asking for them where there are none takes long.
func awsCredentials(ctx context.Context, storeURL string) (aws.CredentialsProvider, error) {
	used := strings.HasPrefix(storeURL, "s3:")
	for _, name := range awsVariables {
		used = used || os.Getenv(name) != ""
	}
	if !used {
		return nil, nil
	}
	cfg, err := awsconfig.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("load AWS configuration: %w", err)
	}
	return cfg.Credentials, nil
}

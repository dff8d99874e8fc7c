package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"github.com/towline/terraform-provider-towline/internal/control"
)

// secretRef says where a secret is; exactly one field is set.
type secretRef struct{ file, env, ssmParameter, secretsManager string }

func refOf(s control.Source) secretRef {
	return secretRef{file: s.File, env: s.Env, ssmParameter: s.SSMParameter, secretsManager: s.SecretsManager}
}

// maxSecret bounds a secret that is read from a file, in bytes.
const maxSecret = 64 << 10

// read fetches the secret. Errors name the place, never the content.
func (r secretRef) read(ctx context.Context) (string, error) {
	switch {
	case r.file != "":
		return readSecretFile(r.file)
	case r.env != "":
		value := os.Getenv(r.env)
		if value == "" {
			return "", fmt.Errorf("the environment variable %s is not set", r.env)
		}
		return strings.TrimSpace(value), nil
	case r.ssmParameter != "":
		return readSSM(ctx, r.ssmParameter)
	case r.secretsManager != "":
		return readSecretsManager(ctx, r.secretsManager)
	default:
		return "", errors.New("no place is named")
	}
}

func readSecretFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxSecret))
	return strings.TrimSpace(string(data)), err
}

func readSSM(ctx context.Context, name string) (string, error) {
	cfg, err := awsconfig.LoadDefaultConfig(ctx)
	if err != nil {
		return "", fmt.Errorf("load AWS configuration: %w", err)
	}
	out, err := ssm.NewFromConfig(cfg).GetParameter(ctx, &ssm.GetParameterInput{Name: aws.String(name), WithDecryption: aws.Bool(true)})
	if err != nil {
		return "", fmt.Errorf("read SSM parameter %s: %w", name, err)
	}
	if out.Parameter == nil {
		return "", fmt.Errorf("SSM parameter %s has no value", name)
	}
	return strings.TrimSpace(aws.ToString(out.Parameter.Value)), nil
}

func readSecretsManager(ctx context.Context, id string) (string, error) {
	cfg, err := awsconfig.LoadDefaultConfig(ctx)
	if err != nil {
		return "", fmt.Errorf("load AWS configuration: %w", err)
	}
	out, err := secretsmanager.NewFromConfig(cfg).GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: aws.String(id)})
	if err != nil {
		return "", fmt.Errorf("read secret %s: %w", id, err)
	}
	return strings.TrimSpace(aws.ToString(out.SecretString)), nil
}

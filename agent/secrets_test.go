package agent_test

import (
	"context"
	"encoding/base64"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/towline/terraform-provider-towline/agent"
	"github.com/towline/terraform-provider-towline/internal/control"
)

// startMoto starts a mock of AWS and points this process's SDK at it.
func startMoto(t *testing.T) aws.Config {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	host, port, _ := net.SplitHostPort(addr)
	cmd := exec.Command("moto_server", "-H", host, "-p", port)
	if err := cmd.Start(); err != nil {
		t.Fatalf("the mock of AWS is needed: install moto_server: %v", err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for name, value := range map[string]string{"AWS_ENDPOINT_URL": "http://" + addr, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "eu-central-1"} {
		t.Setenv(name, value)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/moto-api/", nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			_ = resp.Body.Close()
			break
		}
		if ctx.Err() != nil {
			t.Fatal("the mock of AWS does not answer")
		}
		time.Sleep(100 * time.Millisecond)
	}
	config, err := awsconfig.LoadDefaultConfig(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// TestJoinTokenFromAWS enrols agents whose token is in an SSM parameter, a
// Secrets Manager secret, or nowhere. It sets the process's environment and so is
// not parallel.
//
//nolint:paralleltest // see above
func TestJoinTokenFromAWS(t *testing.T) {
	config := startMoto(t)
	tests := map[string]struct {
		token agent.JoinToken
		keep  func(ctx context.Context, text string) error
		want  control.Outcome
	}{
		"SSM parameter": {agent.JoinToken{SSMParameter: "/towline/token"}, func(ctx context.Context, text string) error {
			_, err := ssm.NewFromConfig(config).PutParameter(ctx, &ssm.PutParameterInput{Name: aws.String("/towline/token"), Value: aws.String(text), Type: ssmtypes.ParameterTypeSecureString})
			return err
		}, control.OutcomeApplied},
		"Secrets Manager secret": {agent.JoinToken{SecretsManager: "towline/token"}, func(ctx context.Context, text string) error {
			_, err := secretsmanager.NewFromConfig(config).CreateSecret(ctx, &secretsmanager.CreateSecretInput{Name: aws.String("towline/token"), SecretString: aws.String(text)})
			return err
		}, control.OutcomeApplied},
		"parameter that is not there": {agent.JoinToken{SSMParameter: "/towline/nothing"}, func(context.Context, string) error { return nil }, control.OutcomeFailed},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { //nolint:paralleltest // see above
			w := newWorld(t)
			if err := test.keep(t.Context(), base64.StdEncoding.EncodeToString(w.token.Seed())); err != nil {
				t.Fatal(err)
			}
			w.publish(twoThings)
			config := w.config(filepath.Join(w.dir, "data"))
			config.JoinToken = &test.token
			a, err := agent.New(config, agent.Options{Store: w.store, Now: w.clock, Providers: w.providers})
			if err != nil {
				t.Fatal(err)
			}
			w.agent = a
			if got := a.Round(t.Context()); got != test.want {
				t.Errorf("outcome %s", got)
			}
		})
	}
}

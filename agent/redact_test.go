package agent_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/towline/terraform-provider-towline/agent"
)

const secretKey = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIFakeFakeFakeFakeFake\n-----END PRIVATE KEY-----"

// TestSecretsAreTakenOutOfTexts looks for values in the forms in which texts quote them.
func TestSecretsAreTakenOutOfTexts(t *testing.T) {
	t.Parallel()
	secrets := agent.NewSecrets([]string{"AWS_SECRET_ACCESS_KEY=s3cr3t/k+y", "DB_PASSWORD=pass \"word\"", "MY_TOKEN=abc", "api_key=" + secretKey, "PATH=/usr/bin", "VAULT_TOKEN=s3cr3t/k+y-longer"})
	tests := map[string]struct{ text, want string }{
		"nothing":          {"", ""},
		"no secret":        {"ordinary /usr/bin", "ordinary /usr/bin"},
		"as it is":         {"got s3cr3t/k+y.", "got (sensitive value)."},
		"longer first":     {"got s3cr3t/k+y-longer.", "got (sensitive value)."},
		"quoted":           {`got "pass \"word\""`, `got "(sensitive value)"`},
		"in a URL":         {"https://x/?p=s3cr3t%2Fk%2By", "https://x/?p=(sensitive value)"},
		"in base64":        {"Basic czNjcjN0L2sreQ==", "Basic (sensitive value)"},
		"a line of it":     {"MC4CAQAwBQYDK2VwBCIEIFakeFakeFakeFakeFake", "(sensitive value)"},
		"all of it":        {"x" + secretKey + "x", "x(sensitive value)x"},
		"too short":        {"abc is everywhere", "abc is everywhere"},
		"twice":            {"s3cr3t/k+y s3cr3t/k+y", "(sensitive value) (sensitive value)"},
		"inside of a word": {"xs3cr3t/k+yx", "x(sensitive value)x"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := secrets.Redact(test.text); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestSecretsAreTakenOutOfLogs puts a secret into every part of a log record.
func TestSecretsAreTakenOutOfLogs(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t-value"
	secrets := agent.NewSecrets([]string{"TOKEN=" + secret})
	handlers := map[string]func(*bytes.Buffer) slog.Handler{
		"text": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
		"JSON": func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
	}
	for name, handler := range handlers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			log := secrets.Logger(slog.New(handler(&out))).With("with", secret).WithGroup("group").With("in", fmt.Errorf("wraps %w", errors.New(secret)))
			log.Info("message "+secret, "text", secret, "error", errors.New("because of "+secret), "list", []string{secret}, "map", map[string]any{"k": secret},
				slog.Group("inner", "deep", secret), "number", 5, "duration", slog.DurationValue(3))
			if strings.Contains(out.String(), secret) || strings.Count(out.String(), "(sensitive value)") != 8 || !strings.Contains(out.String(), "5") {
				t.Errorf("the log says %s", out.String())
			}
		})
	}
}

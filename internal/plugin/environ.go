package plugin

import (
	"context"
	"log/slog"
	"strings"
)

// providerLogs are the variables with which providers' libraries set the levels
// of their logs. The provider's own log has one with the provider's name.
var providerLogs = []string{
	"TF_LOG_SDK", "TF_LOG_SDK_PROTO", "TF_LOG_SDK_FRAMEWORK", "TF_LOG_SDK_HELPER_SCHEMA", "TF_LOG_SDK_MUX",
}

// providerEnviron is what a provider gets besides this process's environment,
// which prevails. By default providers log everything at the finest level for
// whoever starts them to choose from; that is a third of a small provider's work,
// and as much again for the reader. Unless somebody listens, they are told to be silent.
func providerEnviron(ctx context.Context, typeName string, log *slog.Logger) []string {
	if log.Enabled(ctx, slog.LevelDebug) {
		return nil
	}
	out := make([]string, 0, len(providerLogs)+1)
	for _, name := range append(providerLogs, "TF_LOG_PROVIDER_"+strings.ToUpper(typeName)) {
		out = append(out, name+"=off")
	}
	return out
}

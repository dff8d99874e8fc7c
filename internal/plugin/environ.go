package plugin

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
)

// providerLogs are the variables with which providers' libraries set the levels
// of their logs. The provider's own log has one with the provider's name.
var providerLogs = []string{
	"TF_LOG_SDK", "TF_LOG_SDK_PROTO", "TF_LOG_SDK_FRAMEWORK", "TF_LOG_SDK_HELPER_SCHEMA", "TF_LOG_SDK_MUX",
}

// collectLess makes a provider's garbage collector run at a third of its usual
// rate. Providers make much garbage for each call and keep little, so that this
// saves a quarter of their work and costs memory in proportion to the little. Large
// programs keep much, and collect as they would.
const collectLess = "GOGC=300"

// providerEnviron is what a provider gets besides this process's environment,
// which prevails. By default providers log everything at the finest level for
// whoever starts them to choose from; that is a third of a small provider's work,
// and as much again for the reader. Unless somebody listens, they are told to be silent.
//
// hardMemory is the size at which the process is ended, 0 if it is not: its garbage collector works harder
// before it comes to that.
func providerEnviron(ctx context.Context, typeName string, large bool, hardMemory uint64, log *slog.Logger) []string {
	var out []string
	if hardMemory > 0 {
		out = append(out, fmt.Sprintf("GOMEMLIMIT=%d", hardMemory/10*9))
	}
	if !large {
		out = append(out, collectLess)
	}
	if log.Enabled(ctx, slog.LevelDebug) {
		return out
	}
	for _, name := range append(providerLogs, "TF_LOG_PROVIDER_"+strings.ToUpper(typeName)) {
		out = append(out, name+"=off")
	}
	return out
}

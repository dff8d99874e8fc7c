package plugin_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/plugin"
)

// TestProvidersAreSilentUnlessHeard starts the provider while the log takes some
// levels, and then listens at all levels to what it writes about a call.
func TestProvidersAreSilentUnlessHeard(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		level slog.Level
		speak bool
	}{
		"nobody listens":   {slog.LevelInfo, false},
		"somebody listens": {slog.LevelDebug, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var text logBuffer
			level := &slog.LevelVar{}
			level.Set(test.level)
			p := startFault(t, plugin.Options{Logger: slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: level}))})
			level.Set(slog.LevelDebug)
			mustPass(t, read(t.Context(), t, p, "").Diagnostics)
			if err := p.Close(); err != nil { // everything that it wrote has been read then
				t.Fatal(err)
			}
			if spoke := strings.Contains(text.String(), "tf_rpc=ReadResource"); spoke != test.speak {
				t.Errorf("the provider spoke about the call: %t, want %t:\n%s", spoke, test.speak, text.String())
			}
		})
	}
}

package backend

import (
	"context"
	"testing"
)

// FuzzUnmarshalSettings: what is recorded of a backend may be damaged; what is read is
// recorded as the same again, and opens or is refused.
func FuzzUnmarshalSettings(f *testing.F) {
	f.Add("local", []byte(`{"path":"a","workspace_dir":null}`))
	f.Add("s3", []byte(`{"bucket":"a","key":"b"}`))
	f.Add("s3", []byte(`null`))
	f.Add("gcs", []byte(`{}`))
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		settings, diags := UnmarshalSettings(kind, data, 0)
		if diags.HasErrors() {
			return
		}
		encoded, err := settings.MarshalConfig()
		if err != nil {
			t.Fatal(err)
		}
		again, diags := UnmarshalSettings(kind, encoded, 0)
		if diags.HasErrors() || !again.Equal(settings) {
			t.Errorf("%s becomes %s: %v", data, encoded, diags)
		}
		if kind == "local" {
			_, _ = Open(context.Background(), ".", settings)
		}
	})
}

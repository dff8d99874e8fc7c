package main

import (
	"strings"
	"testing"

	"github.com/towline/terraform-provider-towline/agent"
)

// TestOpenSources: the store comes first and its mirrors follow, and a mistake in any URL
// is told before the agent starts.
func TestOpenSources(t *testing.T) {
	t.Parallel()
	store, mirror := "file://"+t.TempDir(), "file://"+t.TempDir()
	sources, err := openSources(t.Context(), agent.Config{Store: store, Mirrors: []string{mirror, "s3://b/p"}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, source := range sources {
		got = append(got, source.URL())
	}
	if want := store + " " + mirror + " s3://b/p"; strings.Join(got, " ") != want {
		t.Errorf("sources = %v; want %s", got, want)
	}
	if _, err := openSources(t.Context(), agent.Config{Store: store, Mirrors: []string{"ftp://host"}}); err == nil || !strings.Contains(err.Error(), "ftp://") {
		t.Errorf("with an unknown scheme: %v", err)
	}
}

package open_test

import (
	"strings"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/objstore/open"
)

func TestOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, rawURL := range map[string]string{
		"file":   "file://" + dir,
		"mem":    "mem://" + t.Name(),
		"s3":     "s3://bucket/prefix?region=eu-west-1",
		"gs":     "gs://bucket/prefix?anonymous=true",
		"azblob": "azblob://container/prefix?account=name&anonymous=true",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, err := open.Open(t.Context(), rawURL)
			if err != nil {
				t.Fatal(err)
			}
			if store.URL() != rawURL {
				t.Errorf("URL() = %s; want %s", store.URL(), rawURL)
			}
		})
	}
}

func TestMemByNameIsShared(t *testing.T) {
	t.Parallel()
	first, _ := open.Open(t.Context(), "mem://shared")
	second, _ := open.Open(t.Context(), "mem://shared")
	if _, err := first.Put(t.Context(), "x", []byte("y")); err != nil {
		t.Fatal(err)
	}
	if _, err := second.Get(t.Context(), "x", 1); err != nil {
		t.Error(err)
	}
}

func TestOpenRefusals(t *testing.T) {
	t.Parallel()
	for name, rawURL := range map[string]string{
		"no scheme":       "/var/lib/towline",
		"unknown scheme":  "ftp://host/path?token=secret",
		"two slashes":     "file://var/lib",
		"file parameters": "file:///var/lib?token=secret",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := open.Open(t.Context(), rawURL)
			if err == nil || !strings.Contains(err.Error(), "file:///") || strings.Contains(err.Error(), "secret") {
				t.Errorf("error %v; want one that shows the form and no secret", err)
			}
		})
	}
}

package gcs_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/objstore/gcs"
	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest"
	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest/fakegcs"
)

const bucket = "towline-test"

var server *fakegcs.Server

func TestMain(m *testing.M) {
	os.Exit(objstoretest.MainWith(m, func(ctx context.Context) (func(), error) {
		var err error
		if server, err = fakegcs.Start(ctx); err != nil {
			return nil, err
		}
		return server.Stop, server.CreateBucket(ctx, bucket)
	}))
}

func TestConformance(t *testing.T) {
	t.Parallel()
	objstoretest.Run(t, objstoretest.Target{
		Open: func(t *testing.T) objstore.Store {
			return openStore(t, server.StoreURL(bucket, objstoretest.Prefix(t)))
		},
		Shared: true,
	})
}

func TestFaults(t *testing.T) {
	t.Parallel()
	objstoretest.RunFaults(t, objstoretest.Remote{
		Server: server.Endpoint,
		Open: func(t *testing.T, endpoint string) objstore.Store {
			return openStore(t, fakegcs.StoreURL(endpoint, bucket, objstoretest.Prefix(t)))
		},
	})
}

// TestAnswers checks what the answers mean that the server of the tests does not give.
func TestAnswers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		status        int
		message       string
		read, replace error
	}{
		"no permission":  {http.StatusForbidden, "caller does not have storage.objects.get access", objstore.ErrDenied, objstore.ErrDenied},
		"no such bucket": {http.StatusNotFound, "The specified bucket does not exist.", objstore.ErrUnavailable, objstore.ErrUnavailable},
		"no such object": {http.StatusNotFound, "No such object: b/x", objstore.ErrNotExist, objstore.ErrNotExist},
		"bad request":    {http.StatusBadRequest, "Invalid argument.", objstore.ErrUnavailable, objstore.ErrUnavailable},
		"conflict":       {http.StatusConflict, "The object is being changed.", objstore.ErrUnavailable, objstore.ErrUnavailable},
		"precondition":   {http.StatusPreconditionFailed, "conditionNotMet", objstore.ErrUnavailable, objstore.ErrChanged},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := openStore(t, fakegcs.StoreURL(answering(t, test.status, test.message), "b", ""))
			if _, err := store.Get(t.Context(), "x", 10); !errors.Is(err, test.read) || !strings.Contains(err.Error(), test.message) {
				t.Errorf("Get: %v; want %v with the store's words", err, test.read)
			}
			if _, err := store.PutIfMatch(t.Context(), "x", []byte("y"), "17"); !errors.Is(err, test.replace) {
				t.Errorf("PutIfMatch: %v; want %v", err, test.replace)
			}
		})
	}
}

// answering is a server that answers everything with an error of the API.
func answering(t *testing.T, status int, message string) string {
	t.Helper()
	fake := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":{"code":%d,"message":%q}}`, status, message)
	}))
	t.Cleanup(fake.Close)
	return fake.URL
}

// TestMissingBucket: nothing can be written where there is no bucket.
func TestMissingBucket(t *testing.T) {
	t.Parallel()
	store := openStore(t, fakegcs.StoreURL(answering(t, http.StatusNotFound, "The specified bucket does not exist."), "no-such-bucket", "p"))
	if _, err := store.PutIfAbsent(t.Context(), "x", nil); !errors.Is(err, objstore.ErrUnavailable) {
		t.Errorf("PutIfAbsent: %v; want %v", err, objstore.ErrUnavailable)
	}
}

// TestEmulatorVariable: Google's own variable leads to an emulator, without credentials.
//
//nolint:paralleltest // it sets the environment
func TestEmulatorVariable(t *testing.T) {
	t.Setenv("STORAGE_EMULATOR_HOST", server.Endpoint)
	store := openStore(t, "gs://"+bucket+"/"+objstoretest.Prefix(t))
	if _, err := store.PutIfAbsent(t.Context(), "x", []byte("y")); err != nil {
		t.Error(err)
	}
}

// TestNoCredentials: without any credentials opening says so at once.
//
//nolint:paralleltest // it sets the environment
func TestNoCredentials(t *testing.T) {
	for name, value := range map[string]string{"GOOGLE_APPLICATION_CREDENTIALS": os.DevNull, "HOME": t.TempDir(), "STORAGE_EMULATOR_HOST": ""} {
		t.Setenv(name, value)
	}
	if _, err := gcs.Open(t.Context(), "gs://bucket/p"); err == nil || !strings.Contains(err.Error(), "credentials") {
		t.Errorf("Open without credentials: %v", err)
	}
}

func TestOpenRefusals(t *testing.T) {
	t.Parallel()
	for name, rawURL := range map[string]string{
		"credentials":          "gs://key:secret@bucket/p",
		"endpoint credentials": "gs://bucket/p?endpoint=" + url.QueryEscape("https://key:secret@host"),
		"unknown parameter":    "gs://bucket/p?projct=secret",
		"bad flag":             "gs://bucket/p?anonymous=perhaps",
		"no bucket":            "gs:///p",
		"bad prefix":           "gs://bucket/a/../b",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := gcs.Open(t.Context(), rawURL)
			objstoretest.WantRefused(t, err)
		})
	}
}

func openStore(t *testing.T, rawURL string) objstore.Store {
	t.Helper()
	store, err := gcs.Open(t.Context(), rawURL)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

package azblob_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/objstore/azblob"
	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest"
	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest/azurite"
)

const containerName = "towline-test"

var server *azurite.Server

func TestMain(m *testing.M) {
	os.Exit(objstoretest.MainWith(m, func(ctx context.Context) (func(), error) {
		var err error
		if server, err = azurite.Start(ctx); err != nil {
			return nil, err
		}
		return server.Stop, errors.Join(server.Setenv(), server.CreateContainer(ctx, containerName))
	}))
}

func TestConformance(t *testing.T) {
	t.Parallel()
	objstoretest.Run(t, objstoretest.Target{
		Open: func(t *testing.T) objstore.Store {
			return openStore(t, server.StoreURL(containerName, objstoretest.Prefix(t)))
		},
		Shared: true,
	})
}

func TestFaults(t *testing.T) {
	t.Parallel()
	objstoretest.RunFaults(t, objstoretest.Remote{
		Server: server.Endpoint,
		Open: func(t *testing.T, endpoint string) objstore.Store {
			return openStore(t, azurite.StoreURL(endpoint, containerName, objstoretest.Prefix(t)))
		},
	})
}

// TestAnswers checks what the answers mean that the server of the tests does not give.
func TestAnswers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		status int
		code   string
		want   error
	}{
		"no permission":    {http.StatusForbidden, "AuthorizationPermissionMismatch", objstore.ErrDenied},
		"no overwriting":   {http.StatusForbidden, "UnauthorizedBlobOverwrite", objstore.ErrDenied},
		"no container":     {http.StatusNotFound, "ContainerNotFound", objstore.ErrUnavailable},
		"being deleted":    {http.StatusConflict, "ContainerBeingDeleted", objstore.ErrUnavailable},
		"leased":           {http.StatusPreconditionFailed, "LeaseIdMissing", objstore.ErrUnavailable},
		"exists":           {http.StatusConflict, "BlobAlreadyExists", objstore.ErrExist},
		"condition failed": {http.StatusPreconditionFailed, "ConditionNotMet", objstore.ErrExist},
		"throttled":        {http.StatusServiceUnavailable, "ServerBusy", objstore.ErrUnavailable},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := openStore(t, azurite.StoreURL(answering(t, test.status, test.code), "b", ""))
			_, err := store.PutIfAbsent(t.Context(), "x", nil)
			if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.code) {
				t.Errorf("PutIfAbsent: %v; want %v with the store's code", err, test.want)
			}
		})
	}
}

// answering is a server that answers everything with an error of the API.
func answering(t *testing.T, status int, code string) string {
	t.Helper()
	fake := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("x-ms-error-code", code)
		w.WriteHeader(status)
	}))
	t.Cleanup(fake.Close)
	return fake.URL
}

// TestDotsAtTheEnd: keys that Azure would take for others are refused.
func TestDotsAtTheEnd(t *testing.T) {
	t.Parallel()
	store := openStore(t, server.StoreURL(containerName, objstoretest.Prefix(t)))
	for _, key := range []string{"a.", "a./b", "a/b.."} {
		if _, err := store.Put(t.Context(), key, nil); !errors.Is(err, objstore.ErrInvalidKey) {
			t.Errorf("Put(%q): %v; want %v", key, err, objstore.ErrInvalidKey)
		}
	}
	if _, err := store.Put(t.Context(), "a.b/c.json", nil); err != nil {
		t.Error(err)
	}
}

// TestMissingContainer: what is not there because its container is not is no absence.
func TestMissingContainer(t *testing.T) {
	t.Parallel()
	store := openStore(t, server.StoreURL("no-such-container", "p"))
	if _, err := store.Get(t.Context(), "x", 1); !errors.Is(err, objstore.ErrUnavailable) {
		t.Errorf("Get: %v; want %v", err, objstore.ErrUnavailable)
	}
	if _, err := store.Stat(t.Context(), "x"); !errors.Is(err, objstore.ErrUnavailable) {
		t.Errorf("Stat: %v; want %v", err, objstore.ErrUnavailable)
	}
}

// TestCredentials: which of Azure's own variables opens what.
//
//nolint:paralleltest // it sets the environment
func TestCredentials(t *testing.T) {
	endpoint := url.QueryEscape(server.Endpoint + "/devstoreaccount1")
	tests := map[string]struct {
		environ map[string]string
		rawURL  string
		want    error
	}{
		"connection string": {map[string]string{"AZURE_STORAGE_CONNECTION_STRING": server.ConnectionString()}, "azblob://" + containerName + "/p", objstore.ErrNotExist},
		"account by name":   {map[string]string{"AZURE_STORAGE_ACCOUNT": "devstoreaccount1"}, "azblob://" + containerName + "/p?endpoint=" + endpoint, objstore.ErrNotExist},
		"nobody":            {nil, "azblob://" + containerName + "/p?anonymous=true&endpoint=" + endpoint, objstore.ErrDenied},
		"a wrong key":       {map[string]string{"AZURE_STORAGE_KEY": "d3Jvbmc="}, "azblob://" + containerName + "/p?account=devstoreaccount1&endpoint=" + endpoint, objstore.ErrDenied},
		"a wrong signature": {map[string]string{"AZURE_STORAGE_KEY": "", "AZURE_STORAGE_SAS_TOKEN": "?sv=2022-11-02&ss=b&srt=co&sp=r&se=2020-01-01T00:00:00Z&sig=d3Jvbmc%3D"}, "azblob://" + containerName + "/p?account=devstoreaccount1&endpoint=" + endpoint, objstore.ErrDenied},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for variable, value := range test.environ {
				t.Setenv(variable, value)
			}
			_, err := openStore(t, test.rawURL).Get(t.Context(), "x", 1)
			if !errors.Is(err, test.want) {
				t.Errorf("Get: %v; want %v", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "d3Jvbmc") {
				t.Errorf("the error quotes a secret: %v", err)
			}
		})
	}
}

// TestOpenRefusals has mistakes in URLs and variables, none of which is quoted with a secret.
//
//nolint:paralleltest // it sets the environment
func TestOpenRefusals(t *testing.T) {
	tests := map[string]struct {
		rawURL  string
		environ map[string]string
	}{
		"no account":            {"azblob://container/p", nil},
		"credentials":           {"azblob://key:secret@container/p", nil},
		"unknown parameter":     {"azblob://container/p?acount=secret", nil},
		"no container":          {"azblob:///p", nil},
		"bad prefix":            {"azblob://container/a/../b", nil},
		"bad connection string": {"azblob://container/p", map[string]string{"AZURE_STORAGE_CONNECTION_STRING": "AccountKey=secret"}},
		"bad key":               {"azblob://container/p?account=a", map[string]string{"AZURE_STORAGE_KEY": "secret!"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for variable, value := range test.environ {
				t.Setenv(variable, value)
			}
			_, err := azblob.Open(t.Context(), test.rawURL)
			objstoretest.WantRefused(t, err)
		})
	}
}

func openStore(t *testing.T, rawURL string) objstore.Store {
	t.Helper()
	store, err := azblob.Open(t.Context(), rawURL)
	if err != nil {
		t.Fatal(err)
	}
	if store.URL() == "" {
		t.Error("the store has no URL")
	}
	return store
}

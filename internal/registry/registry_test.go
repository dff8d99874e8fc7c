package registry_test

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	tfaddr "github.com/hashicorp/terraform-registry-address"
	svchost "github.com/hashicorp/terraform-svchost"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/registry"
	"github.com/towline/terraform-provider-towline/internal/registry/registrytest"
)

// server starts a registry.
func server(t *testing.T) *registrytest.Server {
	t.Helper()
	s, err := registrytest.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// client asks the registry, with these options besides.
func client(s *registrytest.Server, opts registry.Options) *registry.Client {
	opts.HTTP = s.Client(registry.NewHTTPClient())
	return registry.New(opts)
}

func module(t *testing.T, source string) tfaddr.ModulePackage {
	t.Helper()
	m, err := tfaddr.ParseModuleSource(source)
	if err != nil {
		t.Fatal(err)
	}
	return m.Package
}

func provider(t *testing.T, source string) addrs.Provider {
	t.Helper()
	p, err := addrs.ParseProviderSource(source)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestModules(t *testing.T) {
	t.Parallel()
	s := server(t)
	for version, get := range map[string]string{"1.0.0": "", "1.1.0": "git::https://example.com/a.git"} {
		if err := s.AddModule("acme/net/aws", version, map[string]string{"main.tf": ""}, get); err != nil {
			t.Fatal(err)
		}
	}
	c := client(s, registry.Options{})
	pkg := module(t, s.Host+"/acme/net/aws")
	versions, err := c.ModuleVersions(t.Context(), pkg)
	slices.Sort(versions)
	if err != nil || !slices.Equal(versions, []string{"1.0.0", "1.1.0"}) {
		t.Errorf("got %v, %v", versions, err)
	}
	for version, want := range map[string]string{"1.0.0": s.URL + "/archives/acme/net/aws/1.0.0.tar.gz", "1.1.0": "git::https://example.com/a.git"} {
		if got, err := c.ModuleSource(t.Context(), pkg, version); err != nil || got != want {
			t.Errorf("%s is at %q, %v, want %q", version, got, err, want)
		}
	}
	if _, err := c.ModuleVersions(t.Context(), module(t, s.Host+"/acme/nothing/aws")); !errors.Is(err, registry.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

func TestTokensGoToTheirHostOnly(t *testing.T) {
	t.Parallel()
	s := server(t)
	if err := s.AddModule("acme/net/aws", "1.0.0", nil, ""); err != nil {
		t.Fatal(err)
	}
	s.Require("secret")
	pkg := module(t, s.Host+"/acme/net/aws")
	right, wrong := map[svchost.Hostname]string{svchost.Hostname(s.Host): "secret"}, map[svchost.Hostname]string{"example.com": "secret"}
	if _, err := client(s, registry.Options{Tokens: right}).ModuleVersions(t.Context(), pkg); err != nil {
		t.Error(err)
	}
	_, err := client(s, registry.Options{Tokens: wrong}).ModuleVersions(t.Context(), pkg)
	if err == nil || !strings.Contains(err.Error(), "refuses access") || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v", err)
	}
}

// TestAnswersThatAreNone: whatever a host answers, it ends in an error.
func TestAnswersThatAreNone(t *testing.T) {
	t.Parallel()
	const path = "/v1/providers/acme/rain/1.0.0/download/linux/amd64"
	sum := strings.Repeat("0", 64)
	for name, body := range map[string]string{
		"no JSON":       "<html>",
		"another kind":  `[1, 2]`,
		"nested deeply": strings.Repeat("[", 100_000),
		"no checksum":   `{"download_url": "/a", "shasums_url": "/b", "shasums_signature_url": "/c"}`,
		"bad checksum":  `{"download_url": "/a", "shasum": "xyz", "shasums_url": "/b", "shasums_signature_url": "/c"}`,
		"no addresses":  `{"shasum": "` + sum + `"}`,
		"bad address":   `{"download_url": "http://[", "shasum": "` + sum + `", "shasums_url": "/b", "shasums_signature_url": "/c"}`,
		"too large":     strings.Repeat(" ", 17<<20),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := server(t)
			s.Put(path, []byte(body), nil)
			got, err := client(s, registry.Options{}).ProviderPackage(t.Context(), provider(t, s.Host+"/acme/rain"), "1.0.0", registry.Platform{OS: "linux", Arch: "amd64"})
			if err == nil {
				t.Errorf("got %v", got)
			}
		})
	}
}

// TestHostsWithoutService: a host block decides, and the host is not asked.
func TestHostsWithoutService(t *testing.T) {
	t.Parallel()
	s := server(t)
	c := client(s, registry.Options{Services: map[svchost.Hostname]map[string]any{svchost.Hostname(s.Host): {"modules.v1": s.URL + "/v1/modules/"}}})
	if _, err := c.ProviderVersions(t.Context(), provider(t, s.Host+"/acme/rain")); !errors.Is(err, registry.ErrNoService) {
		t.Errorf("got %v", err)
	}
	if asked := s.Asked(); len(asked) > 0 {
		t.Errorf("the host was asked for %v", asked)
	}
}

func TestDownloads(t *testing.T) {
	t.Parallel()
	s := server(t)
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("plain")) }))
	t.Cleanup(plain.Close)
	s.Put("/file", []byte("content"), nil)
	c := client(s, registry.Options{})
	var got bytes.Buffer
	const want = "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73"
	if digest, err := c.Download(t.Context(), s.URL+"/file", &got, 7); err != nil || digest != want || got.String() != "content" {
		t.Errorf("got %q with digest %s, %v", got.String(), digest, err)
	}
	if _, err := c.Download(t.Context(), s.URL+"/file", &got, 6); err == nil {
		t.Error("it may be larger than allowed")
	}
	if _, err := c.Download(t.Context(), s.URL+"/nothing", &got, 6); !errors.Is(err, registry.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	away := httptest.NewTLSServer(http.RedirectHandler(plain.URL, http.StatusFound))
	t.Cleanup(away.Close)
	downgraded := registry.NewHTTPClient()
	downgraded.Transport = away.Client().Transport
	if _, err := registry.New(registry.Options{HTTP: downgraded}).Download(t.Context(), away.URL, &got, 100); err == nil || !strings.Contains(err.Error(), "plain") {
		t.Errorf("it may be redirected to a plain connection: %v", err)
	}
}

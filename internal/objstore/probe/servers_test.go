package probe_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest"
	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest/azurite"
	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest/fakegcs"
	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest/moto"
	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest/versitygw"
	"github.com/towline/terraform-provider-towline/internal/objstore/open"
	"github.com/towline/terraform-provider-towline/internal/objstore/probe"
)

const bucket = "probed"

// The servers of this package's tests.
var (
	s3Server    *versitygw.Server
	motoServer  *moto.Server
	gcsServer   *fakegcs.Server
	azureServer *azurite.Server
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "towline-probe-")
	if err == nil {
		defer os.RemoveAll(dir)
		err = startServers(context.Background(), dir)
	}
	defer stopServers()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

func startServers(ctx context.Context, dir string) (err error) {
	if s3Server, err = versitygw.Start(ctx, dir); err != nil {
		return err
	}
	if motoServer, err = moto.Start(ctx); err != nil {
		return err
	}
	if gcsServer, err = fakegcs.Start(ctx); err != nil {
		return err
	}
	if azureServer, err = azurite.Start(ctx); err != nil {
		return err
	}
	return errors.Join(s3Server.Setenv(), azureServer.Setenv(), s3Server.CreateBucket(bucket), motoServer.CreateBucket(ctx, bucket),
		gcsServer.CreateBucket(ctx, bucket), azureServer.CreateContainer(ctx, bucket))
}

func stopServers() {
	if s3Server != nil {
		s3Server.Stop()
	}
	if motoServer != nil {
		motoServer.Stop()
	}
	if gcsServer != nil {
		gcsServer.Stop()
	}
	if azureServer != nil {
		azureServer.Stop()
	}
}

func openStore(t *testing.T, rawURL string) objstore.Store {
	t.Helper()
	store, err := open.Open(t.Context(), rawURL)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func TestGoodServers(t *testing.T) {
	t.Parallel()
	for name, rawURL := range map[string]string{
		"s3":     s3Server.StoreURL(bucket, "good"),
		"gs":     gcsServer.StoreURL(bucket, "good"),
		"azblob": azureServer.StoreURL(bucket, "good"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantGood(t, openStore(t, rawURL))
		})
	}
}

// TestSecondS3: moto honours each condition; whether its races come out right depends on
// who is interrupted, and what is said of it must be consistent with that.
func TestSecondS3(t *testing.T) {
	t.Parallel()
	report := probe.Run(t.Context(), openStore(t, motoServer.StoreURL(bucket, "second")), all)
	got := outcomes(report)
	races := got["create-race"] == probe.OK && got["swap-race"] == probe.OK
	if report.MultiWriter() != races {
		t.Errorf("MultiWriter = %t, and its races ended with %s and %s", report.MultiWriter(), got["create-race"], got["swap-race"])
	}
	for _, result := range report.Results {
		if result.Outcome != probe.OK && !strings.HasSuffix(result.Probe, "-race") {
			t.Errorf("%s: %s: %s", result.Probe, result.Outcome, result.Detail)
		}
	}
}

// TestLyingServers puts a proxy before a real server that makes it break its promises.
func TestLyingServers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		url  func(*testing.T) string
		want map[string]probe.Outcome
	}{
		"S3 without If-None-Match": {
			func(t *testing.T) string { return s3Through(t, withoutHeader("If-None-Match")) },
			map[string]probe.Outcome{"create-only": probe.Broken, "create-race": probe.Broken, "compare-and-swap": probe.OK},
		},
		"S3 without If-Match": {
			func(t *testing.T) string { return s3Through(t, withoutHeader("If-Match")) },
			map[string]probe.Outcome{"create-only": probe.OK, "compare-and-swap": probe.Broken},
		},
		"Cloud Storage without generations": {
			func(t *testing.T) string {
				return fakegcs.StoreURL(objstoretest.Proxy(t, gcsServer.Endpoint, objstoretest.Harm{Request: withoutGeneration}), bucket, "lie")
			},
			map[string]probe.Outcome{"create-only": probe.Broken, "compare-and-swap": probe.Broken},
		},
		"S3 that stores nothing": {
			func(t *testing.T) string { return s3Through(t, objstoretest.Harm{Instead: pretend}) },
			map[string]probe.Outcome{"read": probe.Broken, "read-after-write": probe.Broken, "create-only": probe.Broken, "listing": probe.Broken},
		},
		"S3 that forbids writing": {
			func(t *testing.T) string { return s3Through(t, forbid(http.MethodPut)) },
			map[string]probe.Outcome{"write": probe.Denied, "read": probe.OK, "list": probe.OK, "create-only": probe.Skipped, "size": probe.Skipped},
		},
		"S3 that forbids reading": {
			func(t *testing.T) string { return s3Through(t, forbid(http.MethodGet)) },
			map[string]probe.Outcome{"write": probe.OK, "read": probe.Denied, "list": probe.Denied, "create-only": probe.Skipped},
		},
		"S3 that is down": {
			func(t *testing.T) string {
				harm, _ := objstoretest.AnswerWith(http.StatusServiceUnavailable, 1<<62)
				return s3Through(t, harm)
			},
			map[string]probe.Outcome{"write": probe.Failed, "read": probe.Failed, "create-only": probe.Failed},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report := probe.Run(t.Context(), openStore(t, test.url(t)), probe.Options{Size: 1000})
			if report.MultiWriter() {
				t.Error("it is accepted for several writers")
			}
			got := outcomes(report)
			for probed, want := range test.want {
				if got[probed] != want {
					t.Errorf("%s: %s; want %s", probed, got[probed], want)
				}
			}
			if t.Failed() {
				t.Logf("%+v", report.Results)
			}
		})
	}
}

// s3Through is the URL of a store in the S3 server behind a proxy that does harm.
func s3Through(t *testing.T, harm objstoretest.Harm) string {
	t.Helper()
	return versitygw.StoreURL(objstoretest.Proxy(t, s3Server.Endpoint, harm), bucket, strings.ReplaceAll(t.Name(), "/", "-"))
}

// withoutHeader drops a header, and signs the request anew as if it had never been there.
func withoutHeader(name string) objstoretest.Harm {
	return objstoretest.Harm{Request: func(r *http.Request) {
		if r.Header.Get(name) == "" {
			return
		}
		for _, gone := range []string{name, "Authorization", "X-Forwarded-For"} {
			r.Header.Del(gone)
		}
		credentials := aws.Credentials{AccessKeyID: s3Server.AccessKey, SecretAccessKey: s3Server.SecretKey}
		_ = v4.NewSigner().SignHTTP(r.Context(), credentials, r, r.Header.Get("X-Amz-Content-Sha256"), "s3", "us-east-1", time.Now()) // without it the server refuses
	}}
}

func withoutGeneration(r *http.Request) {
	query := r.URL.Query()
	query.Del("ifGenerationMatch")
	r.URL.RawQuery = query.Encode()
}

// pretend answers writes as if they had been carried out.
func pretend(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodPut {
		return false
	}
	w.Header().Set("ETag", `"1"`)
	return true
}

func forbid(method string) objstoretest.Harm {
	return objstoretest.Harm{Instead: func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == method {
			w.WriteHeader(http.StatusForbidden)
		}
		return r.Method == method
	}}
}

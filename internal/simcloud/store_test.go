package simcloud_test

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/simcloud"
	"github.com/towline/terraform-provider-towline/internal/simcloud/client"
	"github.com/towline/terraform-provider-towline/internal/simcloud/cloudapi"
)

func TestManyWritersMakeOneObject(t *testing.T) {
	t.Parallel()
	c := connect(t, start(t, simcloud.Options{DataFile: filepath.Join(t.TempDir(), "data")}), "")
	const objects, writers = 500, 4
	var made, refused atomic.Int64
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			for i := range objects {
				ref := configRef
				ref.Name = fmt.Sprintf("object-%d", i)
				switch _, err := c.Create(t.Context(), ref, configData); {
				case err == nil:
					made.Add(1)
				case errors.Is(err, client.ErrCondition):
					refused.Add(1)
				default:
					t.Errorf("create %s: %v", ref, err)
				}
			}
		})
	}
	group.Wait()
	if made.Load() != objects || refused.Load() != objects*(writers-1) {
		t.Errorf("made %d and refused %d, want %d and %d", made.Load(), refused.Load(), objects, objects*(writers-1))
	}
	list, err := c.List(t.Context(), cloudapi.Ref{})
	if err != nil || len(list) != objects {
		t.Errorf("listed %d, %v; want %d", len(list), err, objects)
	}
}

func TestDataFile(t *testing.T) {
	t.Parallel()
	write := func(t *testing.T) (path string) {
		path = filepath.Join(t.TempDir(), "data")
		cloud, err := simcloud.New(simcloud.Options{DataFile: path})
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(cloud)
		defer server.Close()
		c := connect(t, server, "")
		for _, name := range []string{"first", "second"} {
			ref := configRef
			ref.Name = name
			if _, err := c.Create(t.Context(), ref, configData); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := simcloud.New(simcloud.Options{DataFile: path}); err == nil || !strings.Contains(err.Error(), "another process") {
			t.Errorf("a second server on the file: %v, want a refusal", err)
		}
		if err := cloud.Close(); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tests := map[string]struct {
		damage  func(data []byte) []byte
		objects int
		err     string
	}{
		"whole":         {func(data []byte) []byte { return data }, 2, ""},
		"torn end":      {func(data []byte) []byte { return data[:len(data)-10] }, 1, ""},
		"changed value": {func(data []byte) []byte { return []byte(strings.Replace(string(data), "fast", "slow", 1)) }, 0, "line 1"},
		"garbage": {func(data []byte) []byte {
			return append([]byte("garbage\n"), data...)
		}, 0, "line 1"},
		"repeated": {func(data []byte) []byte { return append(data, data...) }, 0, "line 3"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := write(t)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, test.damage(data), 0o600); err != nil {
				t.Fatal(err)
			}
			if test.err != "" {
				if _, err := simcloud.New(simcloud.Options{DataFile: path}); err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got %v, want an error with %q", err, test.err)
				}
				return
			}
			c := connect(t, start(t, simcloud.Options{DataFile: path}), "")
			objects, err := c.List(t.Context(), cloudapi.Ref{})
			if err != nil || len(objects) != test.objects {
				t.Errorf("%d objects, %v; want %d", len(objects), err, test.objects)
			}
			events, err := c.Events(t.Context(), 0, 10)
			if err != nil || len(events.Events) != test.objects {
				t.Errorf("%d events, %v; want %d", len(events.Events), err, test.objects)
			}
		})
	}
}

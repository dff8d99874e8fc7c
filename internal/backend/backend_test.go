package backend

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest/versitygw"
)

// TestMain plays the other process when it is started again by a test.
func TestMain(m *testing.M) {
	if path := os.Getenv("TOWLINE_TEST_LOCK"); path != "" {
		err := File(path).Lock(context.Background(), NewLockInfo("other", "1"))
		fmt.Println(err)
		return
	}
	os.Exit(m.Run())
}

func body(t *testing.T, src string) hcl.Body {
	t.Helper()
	file, diags := hclsyntax.ParseConfig([]byte(src), "main.tf", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return file.Body
}

func TestDecode(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		kind, block, override, want, problem string
	}{
		"block alone":          {"local", `path = "a"`, "", "a", ""},
		"override wins":        {"local", `path = "a"`, `path = "b"`, "b", ""},
		"empty block":          {"local", ``, `path = "b"`, "b", ""},
		"unknown argument":     {"local", `pth = "a"`, "", "", "Unsupported argument"},
		"not a literal":        {"local", `path = var.x`, "", "", "Variables not allowed"},
		"other backend":        {"gcs", ``, "", "", "Unsupported backend"},
		"required argument":    {"s3", `bucket = "a"`, "", "", "Missing Required Value"},
		"wrong type":           {"s3", "bucket = \"a\"\nkey = \"b\"\nencrypt = []", "", "", "Incorrect attribute value type"},
		"missing from a table": {"s3", "bucket = \"a\"\nkey = \"b\"\nassume_role = {}", "", "", "Incorrect attribute value type"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, diags := Decode(test.kind, body(t, test.block), body(t, test.override))
			if diags.HasErrors() != (test.problem != "") || (diags.HasErrors() && diags[0].Summary != test.problem) {
				t.Fatalf("got %v, want %q", diags, test.problem)
			}
			if test.problem == "" && got.text("path") != test.want {
				t.Errorf("path is %q, want %q", got.text("path"), test.want)
			}
		})
	}
}

// TestSettingsSurviveTheirFile: what is recorded is what terraform reads and back.
func TestSettingsSurviveTheirFile(t *testing.T) {
	t.Parallel()
	want, diags := Decode("s3", body(t, "bucket = \"a\"\nkey = \"b\"\nuse_lockfile = true\nmax_retries = 2\nassume_role = { role_arn = \"x\", tags = { a = \"b\" } }"))
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	data, err := want.MarshalConfig()
	if err != nil {
		t.Fatal(err)
	}
	got, diags := UnmarshalSettings("s3", data, want.Hash)
	if diags.HasErrors() || !got.Equal(want) {
		t.Errorf("got %#v, want %#v: %v", got.Value, want.Value, diags)
	}
	if _, diags := UnmarshalSettings("s3", []byte(`{"bucket": 3, "nope": true}`), 0); !diags.HasErrors() {
		t.Error("damaged settings are taken")
	}
}

func TestValidWorkspace(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"default": true, "a-b_c": true, "": false, "a/b": false, "..": false, ".": false, "a b": false, "ä": false} {
		if got := ValidWorkspace(name); got != want {
			t.Errorf("%q: %t, want %t", name, got, want)
		}
	}
}

// TestFileExcludesOtherProcesses: the lock is one between processes, and tells them of its holder.
func TestFileExcludesOtherProcesses(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sub", "terraform.tfstate")
	store := File(path)
	info := NewLockInfo("mine", "1.11.4")
	if err := store.Lock(t.Context(), info); err != nil {
		t.Fatal(err)
	}
	other := func() string {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), "TOWLINE_TEST_LOCK="+path)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	if got := other(); !strings.Contains(got, info.ID) || !strings.Contains(got, "for mine") {
		t.Errorf("the other process got %q", got)
	}
	if _, err := File(path).Read(t.Context()); err != nil { // as a data source does that reads its own state
		t.Fatal(err)
	}
	for range 3 {
		if err := store.Write(t.Context(), []byte("x")); err != nil {
			t.Fatal(err)
		}
		if got := other(); !strings.Contains(got, info.ID) {
			t.Errorf("after a write the other process got %q", got)
		}
	}
	if err := store.Unlock(t.Context(), "another"); !errors.Is(err, ErrNotShared) {
		t.Errorf("unlocked by another id: %v", err)
	}
	if err := store.Unlock(t.Context(), info.ID); err != nil {
		t.Fatal(err)
	}
	if got := other(); got != "<nil>\n" {
		t.Errorf("after the end the other process got %q", got)
	}
}

// TestFileWrittenWithoutItsLock: it stays the same file, or whoever holds its lock
// would exclude nobody any more.
func TestFileWrittenWithoutItsLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "terraform.tfstate")
	var before os.FileInfo
	for _, content := range []string{"a long content", "short"} {
		if err := File(path).Write(t.Context(), []byte(content)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != content {
			t.Errorf("the file holds %q, %v, want %q", got, err, content)
		}
		now, err := os.Stat(path)
		if err != nil || before != nil && !os.SameFile(before, now) {
			t.Errorf("another file stands at the path after a write without the lock: %v", err)
		}
		before = now
	}
}

// TestFileRecoversHalfAWrite: a process that ends in the middle of writing over a
// state leaves the new one beside it, which is what counts from then on.
func TestFileRecoversHalfAWrite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "terraform.tfstate")
	store := File(path)
	if err := errors.Join(os.WriteFile(path, []byte("new cont"), 0o600), os.WriteFile(store.pendingPath(), []byte("new content"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if got, err := store.Read(t.Context()); err != nil || string(got) != "new content" {
		t.Fatalf("read %q, %v without the lock", got, err)
	}
	info := NewLockInfo("test", "")
	if err := store.Lock(t.Context(), info); err != nil {
		t.Fatal(err)
	}
	got, err := store.Read(t.Context())
	if err = errors.Join(err, store.Unlock(t.Context(), info.ID)); err != nil || string(got) != "new content" {
		t.Fatalf("read %q, %v with the lock", got, err)
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != "new content" {
		t.Errorf("the file holds %q, %v", now, err)
	}
}

func TestFileMadeOnlyToBeLockedGoes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "terraform.tfstate")
	store, info := File(path), NewLockInfo("test", "")
	if err := errors.Join(store.Lock(t.Context(), info), store.Unlock(t.Context(), info.ID)); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// s3For opens a backend in a real S3 server.
func s3For(t *testing.T, more map[string]cty.Value) Backend {
	t.Helper()
	server, err := versitygw.Start(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	if err := server.CreateBucket("states"); err != nil {
		t.Fatal(err)
	}
	attributes := map[string]cty.Value{
		"bucket": cty.StringVal("states"), "key": cty.StringVal("app/terraform.tfstate"), "region": cty.StringVal("us-east-1"), "use_lockfile": cty.True,
		"endpoints":  cty.ObjectVal(map[string]cty.Value{"s3": cty.StringVal(server.Endpoint)}),
		"access_key": cty.StringVal(server.AccessKey), "secret_key": cty.StringVal(server.SecretKey), "use_path_style": cty.True,
	}
	for name, value := range more {
		attributes[name] = value
	}
	settings, diags := FromValue("s3", cty.ObjectVal(attributes))
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	b, diags := Open(t.Context(), ".", settings)
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	return b
}

// TestS3OneHolder: of many that ask for the lock at once, one gets it, and the
// others learn who.
func TestS3OneHolder(t *testing.T) {
	t.Parallel()
	b := s3For(t, nil)
	infos, taken := make([]LockInfo, 12), make([]error, 12)
	var group sync.WaitGroup
	for i := range taken {
		infos[i] = NewLockInfo("test", "1")
		group.Go(func() { taken[i] = b.Store("default").Lock(t.Context(), infos[i]) })
	}
	group.Wait()
	holder := slices.Index(taken, nil)
	if holder < 0 {
		t.Fatal(errors.Join(taken...))
	}
	for i, err := range taken {
		var locked *LockError
		if i == holder {
			continue
		}
		if !errors.As(err, &locked) || locked.Holder == nil || locked.Holder.ID != infos[holder].ID {
			t.Errorf("number %d got %v", i, err)
		}
	}
	store := b.Store("default")
	if err := store.Unlock(t.Context(), "other"); err == nil {
		t.Error("unlocked by another id")
	}
	if err := store.Unlock(t.Context(), infos[holder].ID); err != nil {
		t.Error(err)
	}
	if err := store.Unlock(t.Context(), infos[holder].ID); err == nil {
		t.Error("unlocked twice")
	}
}

func TestS3Workspaces(t *testing.T) {
	t.Parallel()
	b := s3For(t, map[string]cty.Value{"workspace_key_prefix": cty.StringVal("ws")})
	if data, err := b.Store("blue").Read(t.Context()); err != nil || data != nil {
		t.Fatalf("read %q, %v of nothing", data, err)
	}
	for _, name := range []string{"default", "red", "blue"} {
		if err := b.Store(name).Write(t.Context(), []byte(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Delete(t.Context(), "red"); err != nil {
		t.Fatal(err)
	}
	if names, err := b.Workspaces(t.Context()); err != nil || !slices.Equal(names, []string{"default", "blue"}) {
		t.Errorf("got %v, %v", names, err)
	}
	if data, err := b.Store("blue").Read(t.Context()); err != nil || string(data) != "blue" {
		t.Errorf("read %q, %v", data, err)
	}
	if err := b.Delete(t.Context(), "default"); err == nil {
		t.Error("the default workspace can be deleted")
	}
}

func TestS3Refuses(t *testing.T) {
	t.Parallel()
	for name, attributes := range map[string]map[string]cty.Value{
		"DynamoDB":        {"dynamodb_table": cty.StringVal("locks")},
		"two keys":        {"kms_key_id": cty.StringVal("a"), "sse_customer_key": cty.StringVal("b")},
		"bad duration":    {"assume_role": cty.ObjectVal(map[string]cty.Value{"role_arn": cty.StringVal("a"), "duration": cty.StringVal("long")})},
		"missing bundle":  {"custom_ca_bundle": cty.StringVal("/nowhere")},
		"not base64":      {"sse_customer_key": cty.StringVal("%")},
		"proxy not a URL": {"http_proxy": cty.StringVal("http://a b:c")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := map[string]cty.Value{"bucket": cty.StringVal("a"), "key": cty.StringVal("b"), "region": cty.StringVal("us-east-1")}
			for key, value := range attributes {
				all[key] = value
			}
			settings, diags := FromValue("s3", cty.ObjectVal(all))
			if diags.HasErrors() {
				t.Fatal(diags.Err())
			}
			if _, diags := Open(t.Context(), ".", settings); !diags.HasErrors() {
				t.Error("it is accepted")
			}
		})
	}
}

package demo

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest/versitygw"
)

// The names that examples/enrol declares.
const (
	environment = "prod"
	channel     = "stable"
	agentName   = "agent-1"
	policy      = "on-call"
)

// Options say what a world is made of.
type Options struct {
	// Dir is an empty folder for everything.
	Dir string
	// Programs are what to run.
	Programs Programs
	// S3 is a real S3 server that keeps the repository, in Bucket, instead of a
	// folder. This process's environment must have the server's credentials.
	S3     *versitygw.Server
	Bucket string
	// Mirror is a filesystem mirror with further providers, "" for none.
	Mirror string
	// Host is the address on which servers listen, "" for the loopback interface.
	Host string
	// Poll is the time between rounds, Grace how long drift stands.
	Poll, Grace time.Duration
	// Override is laid over the configuration of examples/enrol, "" for nothing.
	Override string
}

// World is one machine on which everything runs: the people who declare and
// publish, the store between them, and the private network with its agent and
// cloud. It is not safe for concurrent use.
type World struct {
	opts Options
	// url is the repository's store; fingerprint is known once it is enrolled.
	url, fingerprint string
	// declared is the agent's document, once it was read.
	declared control.Agent
	inbox    *inbox
	cloud    cloud
	agent    *process
	// wrap starts the agent's program by another, as in a network namespace.
	wrap []string
}

// cloud is what the agent keeps: where it is, and whose credentials reach it.
type cloud interface {
	start(ctx context.Context, w *World) error
	stop()
	// environ is what the agent's machine has, and nobody else.
	environ() []string
}

// NewWorld returns a world in which nothing is there yet.
func NewWorld(opts Options, c cloud) *World {
	opts.Host = cmp.Or(opts.Host, "127.0.0.1")
	return &World{opts: opts, cloud: c, url: "file://" + filepath.Join(opts.Dir, "store")}
}

// Start makes the folders, keys and servers that everything else needs. Close the
// world afterwards, also if this failed.
func (w *World) Start(ctx context.Context) error {
	for _, step := range []func(context.Context) error{w.makeFolders, w.makeKeys, w.installProviders, w.chooseStore, w.startInbox} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return w.cloud.start(ctx, w)
}

// Close ends all that was started. What is in the folder stays.
func (w *World) Close() {
	w.StopAgent()
	w.cloud.stop()
	if w.inbox != nil {
		w.inbox.close()
	}
}

func (w *World) path(parts ...string) string {
	return filepath.Join(append([]string{w.opts.Dir}, parts...)...)
}

func (w *World) makeFolders(context.Context) error {
	for _, dir := range []string{"store", "agent", "logs"} {
		if err := os.MkdirAll(w.path(dir), 0o700); err != nil {
			return fmt.Errorf("make folders: %w", err)
		}
	}
	return nil
}

// makeKeys makes the key that signs declarations and revisions, and the SSH key
// of a person on call.
func (w *World) makeKeys(ctx context.Context) error {
	if _, err := w.Towline(ctx, "repository", "keys", "new", w.path("signing-key.pem")); err != nil {
		return err
	}
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return fmt.Errorf("make SSH key: %w", err)
	}
	block, err := ssh.MarshalPrivateKey(private, "ana@example.com")
	if err != nil {
		return fmt.Errorf("make SSH key: %w", err)
	}
	line, err := ssh.NewPublicKey(public)
	if err != nil {
		return fmt.Errorf("make SSH key: %w", err)
	}
	authorized := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(line))) + " ana@example.com\n"
	return errors.Join(w.write("on-call", string(pem.EncodeToMemory(block))), w.write("on-call.pub", authorized))
}

// installProviders has terraform and towline find our providers, which are in no
// registry, and those of the further mirror.
func (w *World) installProviders(context.Context) error {
	if err := w.opts.Programs.Mirror(w.path("mirror")); err != nil {
		return err
	}
	text := fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path    = %q\n    include = [\"registry.terraform.io/towline/*\"]\n  }\n", w.path("mirror"))
	if w.opts.Mirror != "" {
		text += fmt.Sprintf("  filesystem_mirror {\n    path    = %q\n    exclude = [\"registry.terraform.io/towline/*\"]\n  }\n", w.opts.Mirror)
	}
	return w.write("terraform.rc", text+"}\n")
}

func (w *World) chooseStore(context.Context) error {
	if w.opts.S3 == nil {
		return nil
	}
	w.url = w.opts.S3.StoreURL(w.opts.Bucket, "main")
	return w.opts.S3.CreateBucket(w.opts.Bucket)
}

func (w *World) startInbox(context.Context) (err error) {
	if w.inbox, err = newInbox(w.opts.Host); err != nil {
		return err
	}
	return w.write("agent/slack-webhook", w.inbox.url)
}

func (w *World) write(name, text string) error {
	if err := os.WriteFile(w.path(filepath.FromSlash(name)), []byte(text), 0o600); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// environ is what every program gets: this process's environment without what a
// person may have set for other work.
func (w *World) environ() []string {
	var out []string
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		switch {
		case strings.HasPrefix(name, "TF_"), strings.HasPrefix(name, "TOWLINE_"), strings.HasPrefix(name, "SIMCLOUD_"),
			strings.HasPrefix(name, "AWS_"), name == "NO_COLOR":
			continue
		}
		out = append(out, entry)
	}
	out = append(out, "TF_CLI_CONFIG_FILE="+w.path("terraform.rc"), "CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1", "NO_COLOR=1",
		"AWS_EC2_METADATA_DISABLED=true", "AWS_CONFIG_FILE="+os.DevNull, "AWS_SHARED_CREDENTIALS_FILE="+os.DevNull)
	if s3 := w.opts.S3; s3 != nil {
		out = append(out, "AWS_ACCESS_KEY_ID="+s3.AccessKey, "AWS_SECRET_ACCESS_KEY="+s3.SecretKey, "AWS_REGION="+awsRegion)
	}
	return out
}

// Inside is the environment of programs on the agent's machine: they reach the
// cloud, and have no key that signs. No place for providers is there: the agent
// has them from the store.
func (w *World) Inside() []string {
	return append(w.Beside(), "TF_CLI_CONFIG_FILE="+os.DevNull)
}

// Beside is the environment of somebody who works inside with terraform's own
// places for providers, as people do who plan there by hand.
func (w *World) Beside() []string { return append(w.environ(), w.cloud.environ()...) }

// operator is the environment of the people and pipelines outside the network:
// they have the signing key, and no credential of the cloud.
func (w *World) operator() []string {
	out := append(w.environ(), "TOWLINE_REPOSITORY="+w.url, "TOWLINE_SIGNING_KEY_FILE="+w.path("signing-key.pem"))
	if w.fingerprint != "" {
		out = append(out, "TOWLINE_FINGERPRINT="+w.fingerprint)
	}
	return out
}

// Result is what came of a program.
type Result struct {
	Command, Stdout, Stderr string
	Status                  int
}

// failure is the error of a program that should have succeeded.
func (r Result) failure() error {
	return fmt.Errorf("%s: exit status %d\n%s%s", r.Command, r.Status, r.Stdout, r.Stderr)
}

// Towline runs a verb of the command line that must succeed.
func (w *World) Towline(ctx context.Context, args ...string) (Result, error) {
	result, err := w.try(ctx, w.opts.Dir, w.opts.Programs.path(towlineProgram), args...)
	if err == nil && result.Status != 0 {
		err = result.failure()
	}
	return result, err
}

// TryTowline runs a verb whose exit status is an answer.
func (w *World) TryTowline(ctx context.Context, args ...string) (Result, error) {
	return w.try(ctx, w.opts.Dir, w.opts.Programs.path(towlineProgram), args...)
}

// Terraform runs terraform in the folder of the enrolment.
func (w *World) Terraform(ctx context.Context, args ...string) (Result, error) {
	result, err := w.try(ctx, w.path("enrol"), "terraform", args...)
	if err == nil && result.Status != 0 {
		err = result.failure()
	}
	return result, err
}

// Within runs a verb in a folder that must succeed, as somebody inside does.
func (w *World) Within(ctx context.Context, dir string, args ...string) (Result, error) {
	result, err := w.tryAs(ctx, w.Beside(), dir, w.opts.Programs.path(towlineProgram), args...)
	if err == nil && result.Status != 0 {
		err = result.failure()
	}
	return result, err
}

func (w *World) try(ctx context.Context, dir, program string, args ...string) (Result, error) {
	return w.tryAs(ctx, w.operator(), dir, program, args...)
}

func (w *World) tryAs(ctx context.Context, environ []string, dir, program string, args ...string) (Result, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = dir, environ
	stdout, stderr, status, err := run(ctx, cmd)
	command := strings.ReplaceAll(strings.Join(append([]string{filepath.Base(program)}, quoted(args)...), " "), w.opts.Dir+"/", "")
	return Result{command, stdout, stderr, status}, err
}

// quoted writes arguments as one would type them.
func quoted(args []string) []string {
	out := make([]string, len(args))
	for i, arg := range args {
		if out[i] = arg; strings.ContainsAny(arg, " []\"*") {
			out[i] = "'" + arg + "'"
		}
	}
	return out
}

// place says to people where the store is.
func (w *World) place() string {
	if w.opts.S3 != nil {
		return "a bucket of a real S3 server at " + w.opts.S3.Endpoint
	}
	return "a folder, " + w.url
}

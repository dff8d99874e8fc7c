package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/backend"
	"github.com/towline/terraform-provider-towline/internal/objstore/objstoretest/versitygw"
)

// bothLimit bounds one run of a program.
const bothLimit = 2 * time.Minute

// both [-fails] [-stderr] [-text=sorted|json|jsonshape|none] [-in FILE] ARGS...: terraform does
// ARGS in the folder t and towline in the folder o, and both do the same: exit
// status, what they print and the summaries of their errors. With -text=sorted
// lines may come in any order, with -text=json members of objects, with -text=jsonshape the
// details of diagnostics count for nothing, with -text=none they are not compared. The
// words Terraform and Towline count as the same.
func both(ts *testscript.TestScript, neg bool, args []string) {
	flags := flag.NewFlagSet("both", flag.ContinueOnError)
	fails := flags.Bool("fails", false, "")
	text := flags.String("text", "same", "")
	in := flags.String("in", "", "")
	if err := flags.Parse(args); err != nil || neg || flags.NArg() == 0 {
		ts.Fatalf("usage: both [-fails] [-text=sorted|json|jsonshape|none] [-in FILE] ARGS...")
	}
	input := ""
	if *in != "" {
		input = ts.ReadFile(*in)
	}
	want := runIn(ts, "terraform", "t", input, flags.Args())
	got := runIn(ts, "towline", "o", input, flags.Args())
	ts.Logf("terraform:\n%s%s\ntowline:\n%s%s", want.stdout, want.stderr, got.stdout, got.stderr)
	if want.code != got.code || (want.code != 0) != *fails {
		ts.Fatalf("terraform exits with %d, towline with %d, expected to fail: %t", want.code, got.code, *fails)
	}
	// Some problems are no diagnostics with terraform; where it has them, both name them alike.
	problems := summaries(want.stdout + want.stderr)
	if diff := cmp.Diff(problems, summaries(got.stdout+got.stderr)); diff != "" && len(problems) > 0 {
		ts.Fatalf("problems differ (-terraform +towline):\n%s", diff)
	}
	if *text == "none" {
		return
	}
	if read := map[string]func(*testscript.TestScript, string) any{"json": object, "jsonshape": shape}[*text]; read != nil {
		if diff := cmp.Diff(read(ts, want.stdout), read(ts, got.stdout)); diff != "" {
			ts.Fatalf("output differs (-terraform +towline):\n%s", diff)
		}
		return
	}
	if diff := cmp.Diff(lines(want.stdout, *text), lines(got.stdout, *text)); diff != "" {
		ts.Fatalf("output differs (-terraform +towline):\n%s", diff)
	}
}

type ran struct {
	stdout, stderr string
	code           int
}

// runIn runs a program in a folder of the script.
func runIn(ts *testscript.TestScript, program, dir, input string, args []string) ran {
	path := program
	if program == "towline" { // this very program, which the scripts find in their PATH
		for _, candidate := range filepath.SplitList(ts.Getenv("PATH")) {
			if _, err := os.Stat(filepath.Join(candidate, program)); err == nil {
				path = filepath.Join(candidate, program)
				break
			}
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), bothLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = ts.MkAbs(dir)
	cmd.Env = append(scriptEnviron(ts), "CHECKPOINT_DISABLE=1")
	cmd.Stdin = strings.NewReader(input)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		ts.Fatalf("%s: %v", program, err)
	}
	return ran{plain(stdout.String()), plain(stderr.String()), cmd.ProcessState.ExitCode()}
}

// scriptEnviron is what programs get of the script's environment.
func scriptEnviron(ts *testscript.TestScript) []string {
	var out []string
	for _, name := range []string{
		"PATH", "HOME", "WORK", "TMPDIR", "GORACE", "TESTSCRIPT_COMMAND", "TF_CLI_CONFIG_FILE", "TF_WORKSPACE", "TF_PLUGIN_CACHE_DIR", "TF_CLI_ARGS", "TF_CLI_ARGS_plan", "TF_CLI_ARGS_state_list", "TF_INPUT", "SSL_CERT_FILE",
		"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION", "AWS_ENDPOINT_URL_S3", "TF_TOKEN_registry_test", "GIT_CONFIG_GLOBAL",
	} {
		if value := ts.Getenv(name); value != "" {
			out = append(out, name+"="+value)
		}
	}
	return out
}

var ansi = regexp.MustCompile("\x1b\\[[0-9;]*m")

// plain takes colours and frames away.
func plain(text string) string {
	text = ansi.ReplaceAllString(text, "")
	return strings.NewReplacer("│ ", "", "╷\n", "", "╵\n", "").Replace(text)
}

var problem = regexp.MustCompile(`(?m)^(Error|Warning): .*$`)

// summaries are the headings of the problems in what a program printed.
func summaries(text string) []string {
	found := problem.FindAllString(text, -1)
	for i, heading := range found {
		found[i] = strings.ReplaceAll(heading, "Terraform", "Towline")
	}
	slices.Sort(found)
	return found
}

// object reads what a program printed as JSON.
func object(ts *testscript.TestScript, text string) any {
	var out any
	ts.Check(json.Unmarshal([]byte(text), &out))
	return out
}

func lines(text, order string) []string {
	text = strings.NewReplacer("Terraform", "Towline", "terraform apply", "towline apply", "terraform plan", "towline plan").Replace(text)
	var out []string
	for line := range strings.Lines(strings.TrimSpace(text)) {
		out = append(out, strings.TrimRight(line, " \n"))
	}
	if order == "sorted" {
		slices.Sort(out)
	}
	return out
}

// theServer is the S3 server that all scripts share, started by the first that asks.
var theServer struct {
	sync.Once
	*versitygw.Server
	err error
}

// s3Server BUCKET: a real S3 server is there, with an empty bucket, and the
// environment leads to it.
func s3Server(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: s3server BUCKET")
	}
	theServer.Do(func() {
		var dir string
		if dir, theServer.err = os.MkdirTemp("", "towline-scripts-"); theServer.err == nil {
			theServer.Server, theServer.err = versitygw.Start(context.Background(), dir)
		}
	})
	ts.Check(theServer.err)
	ts.Check(theServer.CreateBucket(args[0]))
	for name, value := range theServer.Env() {
		ts.Setenv(name, value)
	}
}

// stopServer ends the server after the tests and forgets what it kept.
func stopServer(tb testing.TB) {
	tb.Cleanup(func() {
		if theServer.Server != nil {
			theServer.Stop()
			_ = os.RemoveAll(theServer.Dir())
		}
	})
}

// sameState: the folders t and o have the same state but for its serial, lineage
// and identifiers.
func sameState(ts *testscript.TestScript, neg bool, _ []string) {
	want := runIn(ts, "terraform", "t", "", []string{"state", "pull"})
	got := runIn(ts, "terraform", "o", "", []string{"state", "pull"})
	if want.code != 0 || got.code != 0 {
		ts.Fatalf("terraform cannot read a state: %s%s", want.stderr, got.stderr)
	}
	varying := regexp.MustCompile(`("serial": \d+|"lineage": "[^"]*"|"id": "[-0-9a-f]{36}")`)
	diff := cmp.Diff(varying.ReplaceAllString(want.stdout, ""), varying.ReplaceAllString(got.stdout, ""))
	if (diff != "") != neg {
		ts.Fatalf("states (-terraform +towline): %s", fmt.Sprint(diff))
	}
}

// waitFor FILE: a program that runs in the background has made the file.
func waitFor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: waitfor FILE")
	}
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	limit := time.After(bothLimit)
	for {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
		select {
		case <-limit:
			ts.Fatalf("%s does not appear", args[0])
		case <-ticker.C:
		}
	}
}

// lockState BUCKET KEY ID: somebody locks a state in S3 and is never seen again.
func lockState(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: lockstate BUCKET KEY ID")
	}
	attributes := map[string]cty.Value{
		"bucket": cty.StringVal(args[0]), "key": cty.StringVal(args[1]), "region": cty.StringVal("us-east-1"), "use_lockfile": cty.True, "use_path_style": cty.True,
		"access_key": cty.StringVal(theServer.AccessKey), "secret_key": cty.StringVal(theServer.SecretKey),
		"endpoints": cty.ObjectVal(map[string]cty.Value{"s3": cty.StringVal(theServer.Endpoint)}),
	}
	settings, diags := backend.FromValue("s3", cty.ObjectVal(attributes))
	ts.Check(diags.Err())
	b, diags := backend.Open(context.Background(), ".", settings)
	ts.Check(diags.Err())
	info := backend.NewLockInfo("OperationTypeApply", "1.11.4")
	info.ID = args[2]
	ts.Check(b.Store(backend.DefaultWorkspace).Lock(context.Background(), info))
}

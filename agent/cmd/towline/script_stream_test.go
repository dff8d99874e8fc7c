package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
)

// streamBoth [-fails] VERB ARGS...: both programs do VERB -json and tell the same
// messages, but for order, identifiers, times, sentences and source snippets' values.
func streamBoth(ts *testscript.TestScript, neg bool, args []string) {
	flags := flag.NewFlagSet("stream", flag.ContinueOnError)
	fails := flags.Bool("fails", false, "")
	if err := flags.Parse(args); err != nil || neg || flags.NArg() == 0 {
		ts.Fatalf("usage: stream [-fails] VERB ARGS...")
	}
	args = append([]string{flags.Arg(0), "-json"}, flags.Args()[1:]...)
	want := runIn(ts, "terraform", "t", "", args)
	got := runIn(ts, "towline", "o", "", args)
	ts.Logf("terraform:\n%s%s\ntowline:\n%s%s", want.stdout, want.stderr, got.stdout, got.stderr)
	if want.code != got.code || (want.code == 1) != *fails {
		ts.Fatalf("terraform exits with %d, towline with %d, expected to fail: %t", want.code, got.code, *fails)
	}
	if diff := cmp.Diff(messages(ts, want.stdout), messages(ts, got.stdout)); diff != "" {
		ts.Fatalf("messages differ (-terraform +towline):\n%s", diff)
	}
}

var identifier = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

var elapsed = regexp.MustCompile(`(elapsed_seconds":| after )\d+`)

// messages are the messages of a stream that can be compared, sorted.
func messages(ts *testscript.TestScript, text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		var message map[string]any
		ts.Check(json.Unmarshal([]byte(line), &message))
		if message["@timestamp"] == nil || message["@module"] != "terraform.ui" {
			ts.Fatalf("a message lacks its time or module: %s", line)
		}
		delete(message, "@timestamp")
		delete(message, "towline") // what terraform has no use for
		if d, ok := message["diagnostic"].(map[string]any); ok {
			delete(d, "detail")
		}
		encoded, err := json.Marshal(message)
		ts.Check(err)
		text := elapsed.ReplaceAllString(identifier.ReplaceAllString(string(encoded), "ID"), "${1}N")
		out = append(out, strings.ReplaceAll(text, "by Terraform", "by Towline"))
	}
	slices.Sort(out)
	return out
}

// shape is a JSON document without the details of its diagnostics, and these in a
// fixed order.
func shape(ts *testscript.TestScript, text string) any {
	document, _ := object(ts, text).(map[string]any)
	diagnostics, _ := document["diagnostics"].([]any)
	for _, d := range diagnostics {
		if d, ok := d.(map[string]any); ok {
			delete(d, "detail")
		}
	}
	slices.SortFunc(diagnostics, func(a, b any) int {
		one, err := json.Marshal(a)
		ts.Check(err)
		other, err := json.Marshal(b)
		ts.Check(err)
		return bytes.Compare(one, other)
	})
	return document
}

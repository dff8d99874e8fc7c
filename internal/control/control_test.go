package control

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// testKey derives a key pair from a name, so that failures repeat.
func testKey(name string) (ed25519.PublicKey, ed25519.PrivateKey) {
	seed := sha256.Sum256([]byte(name))
	key := ed25519.NewKeyFromSeed(seed[:])
	public, _ := key.Public().(ed25519.PublicKey)
	return public, key
}

func validAgent() Agent {
	token, _ := testKey("token")
	return Agent{
		Version: 1, Environment: "prod", Name: "eu-1", Channel: "stable", Scopes: []string{"network"},
		Labels: map[string]string{"region": "eu"}, PollInterval: Duration(5 * time.Minute),
		Slack: &Slack{WebhookEnv: "SLACK_WEBHOOK"},
		Join:  Join{Generation: 1, PublicKey: EncodeKey(token), Expires: noon.Add(time.Hour)},
	}
}

func validScope() Scope {
	limit := 3
	return Scope{
		Version: 1, Environment: "prod", Name: "network", Include: []Match{{Address: "module.net.**"}},
		Actions: []Action{ActionCreate}, MaxDeletes: &limit, IgnoreAttributes: []string{"aws_instance.tags"},
		Drift: Drift{Mode: DriftEnforce, Grace: Duration(time.Minute)},
	}
}

func validReceipt() Receipt {
	drift := []DriftItem{{Address: "a.b", Attributes: []string{"size"}, Decision: "observed", Since: noon}}
	return Receipt{
		Version: 1, Environment: "prod", Agent: "eu-1", Epoch: 1, Sequence: 1, Started: noon, Finished: noon.Add(time.Second),
		Channel: "stable", Revision: "abc", Outcome: OutcomeDrifted, Drift: drift, DriftSet: DriftSet(drift), Serial: 4,
	}
}

func TestEncodeDecode(t *testing.T) {
	t.Parallel()
	roundTrip(t, "agent", validAgent())
	roundTrip(t, "scope", validScope())
	roundTrip(t, "policy", validPolicy(t))
	roundTrip(t, "receipt", validReceipt())
	roundTrip(t, "heartbeat", Heartbeat{Version: 1, Environment: "prod", Agent: "eu-1", Time: noon, Channel: "stable", Outcome: OutcomeConverged})
	roundTrip(t, "closure", GrantClosure{Version: 1, ID: "g1", Closed: noon})
}

func roundTrip[T Document](t *testing.T, name string, want T) {
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		data, err := Encode(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode[T](data)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("decoded document differs (-want +got):\n%s", diff)
		}
	})
}

func TestDecodeRefusals(t *testing.T) {
	t.Parallel()
	data, err := Encode(GrantClosure{Version: 1, ID: "g1", Closed: noon})
	if err != nil {
		t.Fatal(err)
	}
	good := string(data)
	tests := map[string]struct {
		data string
		want error
	}{
		"unknown field":     {strings.Replace(good, "{", `{"extra":1,`, 1), ErrMalformed},
		"repeated field":    {strings.Replace(good, "{", `{"id":"other",`, 1), ErrMalformed},
		"other case":        {strings.Replace(good, `"id"`, `"ID"`, 1), ErrMalformed},
		"spaces":            {strings.Replace(good, ",", ", ", 1), ErrMalformed},
		"second document":   {good + good, ErrMalformed},
		"trailing newline":  {good + "\n", ErrMalformed},
		"cut off":           {good[:len(good)-1], ErrMalformed},
		"empty":             {"", ErrMalformed},
		"null":              {"null", nil},
		"newer version":     {strings.Replace(good, `"version":1`, `"version":2`, 1), nil},
		"too large":         {`{"version":1,"id":"` + strings.Repeat("x", MaxDocument) + `"}`, ErrMalformed},
		"not a time":        {strings.Replace(good, "2026", "hello", 1), ErrMalformed},
		"other time zone":   {strings.Replace(good, "Z", "+01:00", 1), nil},
		"name of many dots": {strings.Replace(good, "g1", "../../etc", 1), nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Decode[GrantClosure]([]byte(test.data))
			if err == nil {
				t.Fatalf("decoded as %+v", got)
			}
			if test.want != nil && !errors.Is(err, test.want) {
				t.Errorf("error %v; want %v", err, test.want)
			}
		})
	}
}

func TestValidateNamesTheField(t *testing.T) {
	t.Parallel()
	negative := -1
	tests := map[string]struct {
		doc  Document
		want string
	}{
		"upper case":       {change(validAgent(), func(a *Agent) { a.Name = "EU" }), "name"},
		"long name":        {change(validAgent(), func(a *Agent) { a.Name = strings.Repeat("a", 64) }), "name"},
		"edge dash":        {change(validAgent(), func(a *Agent) { a.Channel = "-x" }), "channel"},
		"no scopes":        {change(validAgent(), func(a *Agent) { a.Scopes = nil }), "scopes"},
		"scope twice":      {change(validAgent(), func(a *Agent) { a.Scopes = []string{"a", "a"} }), "scopes[1]"},
		"two webhooks":     {change(validAgent(), func(a *Agent) { a.Slack = &Slack{WebhookEnv: "A", WebhookFile: "b"} }), "slack"},
		"short poll":       {change(validAgent(), func(a *Agent) { a.PollInterval = 1 }), "poll_interval"},
		"short key":        {change(validAgent(), func(a *Agent) { a.Join.PublicKey = "AAAA" }), "join.public_key"},
		"other version":    {change(validAgent(), func(a *Agent) { a.Version = 2 }), "version"},
		"empty match":      {change(validScope(), func(s *Scope) { s.Include = []Match{{}} }), "include[0]"},
		"no include":       {change(validScope(), func(s *Scope) { s.Include = nil }), "include"},
		"unknown action":   {change(validScope(), func(s *Scope) { s.Actions = []Action{"destroy"} }), "actions[0]"},
		"negative limit":   {change(validScope(), func(s *Scope) { s.MaxChanges = &negative }), "max_changes"},
		"unknown mode":     {change(validScope(), func(s *Scope) { s.Drift.Mode = "ignore" }), "drift.mode"},
		"escape sequence":  {change(validScope(), func(s *Scope) { s.Include[0].Address = "a\x1b[2J" }), "include[0].address"},
		"same approver":    {change(validPolicy(t), func(p *BreakGlassPolicy) { p.Approvers[1] = p.Approvers[0] + " again" }), "approvers[1]"},
		"more than exist":  {change(validPolicy(t), func(p *BreakGlassPolicy) { p.Approvals = 4 }), "approvals"},
		"wrong drift set":  {change(validReceipt(), func(r *Receipt) { r.DriftSet = "" }), "drift_set"},
		"first with a tie": {change(validReceipt(), func(r *Receipt) { r.Previous = strings.Repeat("a", 64) }), "previous"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fields := FieldErrors(test.doc.Validate())
			if len(fields) != 1 || fields[0].Field != test.want {
				t.Errorf("field errors %+v; want one for %s", fields, test.want)
			}
			if _, err := Encode(test.doc); err == nil {
				t.Error("Encode accepted it")
			}
		})
	}
}

func change[T any](doc T, edit func(*T)) T {
	edit(&doc)
	return doc
}

func TestTargets(t *testing.T) {
	t.Parallel()
	ref := validScope().Ref()
	if got := ref.Target(); got != "environments/prod/scopes/network.json" {
		t.Errorf("Target() = %s", got)
	}
	if got, err := ParseTarget(ref.Target()); err != nil || got != ref {
		t.Errorf("ParseTarget = %v, %v; want %v", got, err, ref)
	}
	for _, target := range []string{
		"", "environments/prod/scopes/network", "environments/prod/lease/x.json", "environments/../scopes/x.json",
		"environments/prod/scopes/a/b.json", "channels/prod/scopes/x.json", "environments/prod/scopes/.json",
	} {
		if got, err := ParseTarget(target); err == nil {
			t.Errorf("ParseTarget(%q) = %v", target, got)
		}
	}
	if got := ContentKey("channels/prod/1.tar.zst", "ab"); got != "targets/channels/prod/ab.1.tar.zst" {
		t.Errorf("ContentKey = %s", got)
	}
}

// TestDocumentOfAnother has a key of one environment sign a document for another's path.
func TestDocumentOfAnother(t *testing.T) {
	t.Parallel()
	data, err := Encode(validScope())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := DecodeDeclared(validScope().Ref(), data); err != nil {
		t.Errorf("its own reference: %v", err)
	}
	other := Ref{Kind: KindScope, Environment: "dev", Name: "network"}
	if _, err := DecodeDeclared(other, data); !errors.Is(err, ErrMalformed) {
		t.Errorf("another's reference: %v; want %v", err, ErrMalformed)
	}
}

func TestKeysSortByNumber(t *testing.T) {
	t.Parallel()
	if a, b := ReceiptKey("e", "a", 9, 99), ReceiptKey("e", "a", 10, 1); a >= b {
		t.Errorf("%s sorts after %s", a, b)
	}
	if epoch, sequence, ok := ParseReceiptKey(ReceiptKey("e", "a", 3, 14)); !ok || epoch != 3 || sequence != 14 {
		t.Errorf("ParseReceiptKey = %d, %d, %t", epoch, sequence, ok)
	}
	if epoch, serial, ok := ParseStateKey(Shard{Environment: "e"}.StateKey(3, 14)); !ok || epoch != 3 || serial != 14 {
		t.Errorf("ParseStateKey = %d, %d, %t", epoch, serial, ok)
	}
	if epoch, ok := ParseLeaseKey(Shard{Environment: "e"}.LeaseKey(7)); !ok || epoch != 7 {
		t.Errorf("ParseLeaseKey = %d, %t", epoch, ok)
	}
	for _, key := range []string{"x/1-2.json", "x/000000000001.json", "x/-00000000001-000000000001.json", "x/+00000000001-000000000001.json"} {
		if _, _, ok := ParseReceiptKey(key); ok {
			t.Errorf("ParseReceiptKey accepted %s", key)
		}
	}
}

func TestDriftSetIdentity(t *testing.T) {
	t.Parallel()
	base := []DriftItem{{Address: "a", Attributes: []string{"x", "y"}}, {Address: "b", Deleted: true}}
	same := []DriftItem{{Address: "b", Deleted: true, Since: noon}, {Address: "a", Attributes: []string{"y", "x"}, Decision: "held"}}
	if DriftSet(base) != DriftSet(same) {
		t.Error("order, age or decision changed the identity")
	}
	for name, other := range map[string][]DriftItem{
		"attribute more":  {{Address: "a", Attributes: []string{"x", "y", "z"}}, {Address: "b", Deleted: true}},
		"attributes join": {{Address: "a", Attributes: []string{"x\",\"y"}}, {Address: "b", Deleted: true}},
		"not deleted":     {{Address: "a", Attributes: []string{"x", "y"}}, {Address: "b"}},
		"instance less":   base[:1],
	} {
		if DriftSet(other) == DriftSet(base) {
			t.Errorf("%s: same identity", name)
		}
	}
	if DriftSet(nil) != "" {
		t.Error("the empty set has an identity")
	}
}

func FuzzDecode(f *testing.F) {
	for _, doc := range []Document{validAgent(), validScope(), validReceipt(), GrantClosure{Version: 1, ID: "g1", Closed: noon}} {
		data, err := Encode(doc)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzzOne[Agent](t, data)
		fuzzOne[Scope](t, data)
		fuzzOne[BreakGlassPolicy](t, data)
		fuzzOne[Claim](t, data)
		fuzzOne[Heartbeat](t, data)
		fuzzOne[Receipt](t, data)
		fuzzOne[GrantRequest](t, data)
		fuzzOne[GrantClosure](t, data)
		fuzzOne[GrantClick](t, data)
		key, _ := testKey("agent")
		if _, err := Open[Receipt](data, key); err == nil {
			t.Error("an envelope that nobody signed was opened")
		}
		if _, err := (GrantFiles{Request: data}).Asked(); err == nil {
			t.Error("a grant that nobody signed was opened")
		}
	})
}

// fuzzOne checks that what decodes is valid and has one encoding only.
func fuzzOne[T Document](t *testing.T, data []byte) {
	doc, err := Decode[T](data)
	if err != nil {
		return
	}
	again, err := Encode(doc)
	if err != nil || !bytes.Equal(again, data) {
		t.Errorf("decoded %q encodes as %q, %v", data, again, err)
	}
}

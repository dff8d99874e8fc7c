package trust

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/secure-systems-lab/go-securesystemslib/cjson"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// testKey derives a key from a name, so that failures repeat.
func testKey(name string) Key {
	seed := sha256.Sum256([]byte(name))
	return Key{ed25519.NewKeyFromSeed(seed[:])}
}

func spec(threshold int, names ...string) RoleSpec {
	s := RoleSpec{Threshold: threshold, Expiry: 24 * time.Hour}
	for _, name := range names {
		s.Keys = append(s.Keys, testKey(name).Public())
	}
	return s
}

// publication is one consistent set of metadata, and the parts to make others from.
type publication struct {
	t           *testing.T
	signing     Signing
	top         Top
	delegations []Delegation
	versions    map[string]int64
	targets     map[string][]TargetInfo

	root, timestamp, snapshot, targetsFile []byte
	roles                                  map[string][]byte
}

func newPublication(t *testing.T, edits ...func(*publication)) *publication {
	t.Helper()
	p := &publication{
		t:       t,
		signing: Signing{Now: noon},
		top:     Top{Root: spec(1, "root"), Targets: spec(1, "targets"), Snapshot: spec(1, "snapshot"), Timestamp: spec(1, "timestamp")},
		delegations: []Delegation{
			{EnvironmentRole("prod"), spec(1, "env")},
			{ChannelRole("stable"), spec(2, "ci", "lead")},
		},
		versions: map[string]int64{RoleSnapshot: 5, RoleTimestamp: 7, RoleTargets: 3, EnvironmentRole("prod"): 4, ChannelRole("stable"): 2},
		targets: map[string][]TargetInfo{
			EnvironmentRole("prod"): {Describe("environments/prod/scopes/net.json", []byte("scope"), nil)},
			ChannelRole("stable"):   {Describe("channels/stable/1-abc.tar.zst", []byte("bundle"), json.RawMessage(`{"sequence":1}`))},
		},
		roles: map[string][]byte{},
	}
	for _, name := range []string{"root", "targets", "snapshot", "timestamp", "env", "ci", "lead"} {
		p.signing.Keys = append(p.signing.Keys, testKey(name))
	}
	for _, edit := range edits {
		edit(p)
	}
	p.sign()
	return p
}

func (p *publication) sign() {
	p.t.Helper()
	s := p.signing
	p.root = p.must(s.Root(1, p.top, nil))
	p.targetsFile = p.must(s.Targets(p.versions[RoleTargets], p.top.Targets, p.delegations))
	files := map[string]FileInfo{RoleTargets: fileOf(p.versions[RoleTargets], p.targetsFile)}
	for _, d := range p.delegations {
		p.roles[d.Role] = p.must(s.Role(p.versions[d.Role], d.Role, d.RoleSpec, p.targets[d.Role]))
		files[d.Role] = fileOf(p.versions[d.Role], p.roles[d.Role])
	}
	p.seal(files)
}

// seal signs snapshot and timestamp over files.
func (p *publication) seal(files map[string]FileInfo) {
	p.t.Helper()
	p.snapshot = p.must(p.signing.Snapshot(p.versions[RoleSnapshot], p.top.Snapshot, files))
	p.timestamp = p.must(p.signing.Timestamp(p.versions[RoleTimestamp], p.top.Timestamp, fileOf(p.versions[RoleSnapshot], p.snapshot)))
}

func fileOf(version int64, data []byte) FileInfo {
	return FileInfo{Version: version, Length: int64(len(data)), SHA256: Digest(data)}
}

func (p *publication) must(data []byte, err error) []byte {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
	return data
}

func (p *publication) verifier(now time.Time) *Verifier {
	p.t.Helper()
	v, err := NewVerifier(p.root, now)
	if err != nil {
		p.t.Fatal(err)
	}
	return v
}

// verify runs the whole order and stops at the first refusal.
func (p *publication) verify(v *Verifier) error {
	if err := v.Timestamp(p.timestamp); err != nil {
		return err
	}
	return p.verifyRest(v)
}

func (p *publication) verifyRest(v *Verifier) error {
	steps := []func() error{
		func() error { return v.Snapshot(p.snapshot) },
		func() error { return v.Targets(p.targetsFile) },
		func() error { return v.Role(EnvironmentRole("prod"), p.roles[EnvironmentRole("prod")]) },
		func() error { return v.Role(ChannelRole("stable"), p.roles[ChannelRole("stable")]) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func TestVerify(t *testing.T) {
	t.Parallel()
	p := newPublication(t)
	v := p.verifier(noon)
	if err := p.verify(v); err != nil {
		t.Fatal(err)
	}
	list := v.List(ChannelRole("stable"))
	if len(list) != 1 || string(list[0].Custom) != `{"sequence":1}` {
		t.Fatalf("List = %+v", list)
	}
	verified, err := list[0].Verify([]byte("bundle"))
	if err != nil || !verified.Valid() || verified.Role() != "channel-stable" || string(verified.Content()) != "bundle" {
		t.Errorf("Verify = %+v, %v", verified, err)
	}
	if got := v.Top(); !got.Root.Equal(p.top.Root) || !got.Timestamp.Equal(p.top.Timestamp) {
		t.Errorf("Top = %+v; want %+v", got, p.top)
	}
	if d, ok := v.Delegation(ChannelRole("stable")); !ok || !d.Equal(p.delegations[1].RoleSpec) {
		t.Errorf("Delegation = %+v, %t", d, ok)
	}
	if first := v.Expires(); !first.At.Equal(noon.Add(24*time.Hour)) || first.Role == "" || first.Lifetime != 24*time.Hour || len(v.Endings()) != 6 {
		t.Errorf("Expires = %+v of %+v", first, v.Endings())
	}
}

func TestTamperedTargetBytes(t *testing.T) {
	t.Parallel()
	p := newPublication(t)
	v := p.verifier(noon)
	if err := p.verify(v); err != nil {
		t.Fatal(err)
	}
	target := v.List(ChannelRole("stable"))[0]
	for name, content := range map[string]string{"other bytes": "bumdle", "cut off": "bundl", "more": "bundle!", "nothing": ""} {
		if _, err := target.Verify([]byte(content)); !errors.Is(err, ErrTampered) {
			t.Errorf("%s: %v; want %v", name, err, ErrTampered)
		}
	}
	if _, err := (Target{TargetInfo: target.TargetInfo}).Verify([]byte("bundle")); !errors.Is(err, ErrOrder) {
		t.Errorf("a description that nobody verified: %v; want %v", err, ErrOrder)
	}
	if (Verified{}).Valid() {
		t.Error("the zero value is valid")
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	p := newPublication(t)
	for name, step := range map[string]func(*Verifier) error{
		"snapshot first": func(v *Verifier) error { return v.Snapshot(p.snapshot) },
		"targets first":  func(v *Verifier) error { return v.Targets(p.targetsFile) },
		"role first":     func(v *Verifier) error { return v.Role(EnvironmentRole("prod"), p.roles[EnvironmentRole("prod")]) },
		"root after timestamp": func(v *Verifier) error {
			if err := v.Timestamp(p.timestamp); err != nil {
				return fmt.Errorf("timestamp: %v", err) // not the refusal that is expected
			}
			return v.AddRoot(p.must(p.signing.Root(2, p.top, &p.top.Root)))
		},
	} {
		if err := step(p.verifier(noon)); !errors.Is(err, ErrOrder) && !errors.Is(err, ErrNoRole) {
			t.Errorf("%s: %v; want %v", name, err, ErrOrder)
		}
	}
}

func TestRootRotation(t *testing.T) {
	t.Parallel()
	p := newPublication(t)
	next := p.top
	next.Root = spec(1, "root2")
	both := Signing{Keyring{testKey("root"), testKey("root2")}, noon}
	rotated := p.must(both.Root(2, next, &p.top.Root))
	stolen := p.forge(Keyring{testKey("root2")}, func(s Signing) ([]byte, error) { return s.Root(2, next, nil) })
	skipped := p.must(both.Root(3, next, &p.top.Root))
	for name, test := range map[string]struct {
		data []byte
		want error
	}{
		"signed by both":        {rotated, nil},
		"by the new key only":   {stolen, ErrUnsigned},
		"a version left out":    {skipped, ErrRollback},
		"the same root again":   {p.root, ErrRollback},
		"null among the roles":  {[]byte(`{"signed":{"_type":"root","roles":{"root":null}},"signatures":[]}`), ErrMalformed},
		"timestamp as the root": {p.timestamp, ErrMalformed},
	} {
		if err := p.verifier(noon).AddRoot(test.data); !errors.Is(err, test.want) {
			t.Errorf("%s: %v; want %v", name, err, test.want)
		}
	}
	if _, err := (Signing{Keyring{testKey("root2")}, noon}).Root(2, next, &p.top.Root); !errors.Is(err, ErrKeyMissing) {
		t.Errorf("signing without the old key: %v; want %v", err, ErrKeyMissing)
	}
}

// TestExpiredIsReadWithoutTime reads what was accepted before its end.
func TestExpiredIsReadWithoutTime(t *testing.T) {
	t.Parallel()
	p := newPublication(t)
	late := noon.Add(48 * time.Hour)
	if err := p.verify(p.verifier(late)); !errors.Is(err, ErrExpired) {
		t.Errorf("two days later: %v; want %v", err, ErrExpired)
	}
	if err := p.verify(p.verifier(time.Time{})); err != nil {
		t.Errorf("without a time: %v", err)
	}
}

// TestRecoveryFromStolenTimestampKey has a thief raise the version as far as it
// goes; after the key was replaced, lower versions are accepted again.
func TestRecoveryFromStolenTimestampKey(t *testing.T) {
	t.Parallel()
	p := newPublication(t, func(p *publication) {
		p.top.Timestamp = spec(1, "new")
		p.signing.Keys = append(p.signing.Keys, testKey("new"))
	})
	old := newPublication(t)
	thief := old.must(old.signing.Timestamp(1<<40, old.top.Timestamp, fileOf(1<<40, old.snapshot)))
	v := old.verifier(noon)
	rotated := old.must(p.signing.Root(2, p.top, &old.top.Root))
	if err := v.AddRoot(rotated); err != nil {
		t.Fatal(err)
	}
	v.RememberTimestamp(thief)
	if err := v.Timestamp(p.timestamp); err != nil {
		t.Errorf("after the rotation: %v", err)
	}
}

func TestSigningRefusals(t *testing.T) {
	t.Parallel()
	p := newPublication(t)
	ci := Signing{Keyring{testKey("ci"), testKey("ci")}, noon}
	if _, err := ci.Role(1, ChannelRole("stable"), p.delegations[1].RoleSpec, nil); !errors.Is(err, ErrKeyMissing) {
		t.Errorf("one key given twice for a threshold of two: %v; want %v", err, ErrKeyMissing)
	}
	foreign := []TargetInfo{Describe("environments/dev/scopes/x.json", nil, nil)}
	if _, err := p.signing.Role(1, EnvironmentRole("prod"), p.delegations[0].RoleSpec, foreign); !errors.Is(err, ErrOutsideRole) {
		t.Errorf("a foreign target: %v; want %v", err, ErrOutsideRole)
	}
	for name, bad := range map[string]RoleSpec{
		"no keys": spec(1), "threshold 0": spec(0, "a"), "threshold too high": spec(2, "a"), "key twice": spec(2, "a", "a"),
		"no expiry": {Keys: spec(1, "a").Keys, Threshold: 1},
	} {
		if bad.Validate() == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	key := testKey("a")
	text, err := key.PEM()
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseKey(text)
	if err != nil || again.Public() != key.Public() {
		t.Errorf("ParseKey = %v, %v", again, err)
	}
	if got, err := ParsePublicKey(key.Public().String()); err != nil || got != key.Public() {
		t.Errorf("ParsePublicKey = %v, %v", got, err)
	}
	for _, bad := range []string{"", "AAAA", string(text), "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----"} {
		if _, err := ParsePublicKey(bad); err == nil {
			t.Errorf("ParsePublicKey accepted %.30q", bad)
		}
	}
	if _, err := ParseKey([]byte(key.Public().String())); err == nil {
		t.Error("ParseKey accepted a public key")
	}
}

// TestPrivateKeyIsNeverPrinted tries what a careless log line would do.
func TestPrivateKeyIsNeverPrinted(t *testing.T) {
	t.Parallel()
	key := testKey("a")
	inJSON, err := json.Marshal(map[string]any{"key": key, "ring": Keyring{key}})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"%v": fmt.Sprintf("%v", key), "%+v": fmt.Sprintf("%+v", key), "%#v": fmt.Sprintf("%#v", key), "%s": fmt.Sprintf("%s", key),
		"%x": fmt.Sprintf("%x", key), "ring": fmt.Sprintf("%v", Keyring{key}), "signing": fmt.Sprintf("%+v", Signing{Keyring{key}, noon}), "JSON": string(inJSON),
	} {
		if strings.Contains(text, fmt.Sprintf("%x", []byte(key.private[:4]))) || strings.Contains(text, fmt.Sprintf("%d %d %d", key.private[0], key.private[1], key.private[2])) {
			t.Errorf("%s shows the private key: %s", name, text)
		}
		if !strings.Contains(text, "signing key of") {
			t.Errorf("%s does not say what it is: %s", name, text)
		}
	}
}

func FuzzVerifier(f *testing.F) {
	p := newPublication(&testing.T{})
	for _, seed := range [][]byte{p.root, p.timestamp, p.snapshot, p.targetsFile, p.roles[EnvironmentRole("prod")]} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := NewVerifier(data, noon); err == nil && !bytes.Contains(data, []byte("root")) {
			t.Error("something that is no root was accepted")
		}
		v, err := NewVerifier(p.root, noon)
		if err != nil {
			t.Fatal(err)
		}
		_ = v.AddRoot(data)
		v.RememberTimestamp(data)
		_ = v.Timestamp(data)
		_ = v.Timestamp(p.timestamp)
		v.RememberSnapshot(data)
		_ = v.Snapshot(data)
		_ = v.Snapshot(p.snapshot)
		_ = v.Targets(data)
		_ = v.Targets(p.targetsFile)
		_ = v.Role(EnvironmentRole("prod"), data)
		v.Expires()
		_, _ = ReadSingle(RoleTargets, data, p.top.Targets)
		_, _ = ReadSingle(EnvironmentRole("prod"), data, p.delegations[0].RoleSpec)
		if version := p.top.Timestamp.TimestampVersion(data); version > MaxVersion {
			t.Errorf("version %d was believed", version)
		}
		if key, err := ParsePublicKey(string(data)); err == nil {
			if again, err := ParsePublicKey(key.String()); err != nil || again != key || key.ID() == "" {
				t.Errorf("the key %s comes back as %s, %v", key, again, err)
			}
		}
	})
}

func canonical(t *testing.T, data []byte) []byte {
	t.Helper()
	var value any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		t.Fatal(err)
	}
	out, err := cjson.EncodeCanonical(value)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestSoon tells people when a tenth of the lifetime is left.
func TestSoon(t *testing.T) {
	t.Parallel()
	ending := Ending{RoleTimestamp, noon.Add(10 * time.Hour), 100 * time.Hour}
	for name, test := range map[string]struct {
		now  time.Time
		want bool
	}{
		"a tenth left":  {noon, false},
		"less":          {noon.Add(time.Second), true},
		"it has ended":  {noon.Add(20 * time.Hour), true},
		"newly renewed": {noon.Add(-90 * time.Hour), false},
	} {
		if got := ending.Soon(test.now); got != test.want {
			t.Errorf("%s: %t; want %t", name, got, test.want)
		}
	}
}

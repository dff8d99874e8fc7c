package control

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

func testSigner(t *testing.T, name string) ssh.Signer {
	t.Helper()
	_, key := testKey(name)
	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return signer
}

func approverLine(t *testing.T, name string) string {
	t.Helper()
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(testSigner(t, name).PublicKey())))
}

func validPolicy(t *testing.T) BreakGlassPolicy {
	t.Helper()
	return BreakGlassPolicy{
		Version: 1, Environment: "prod", Name: "on-call", Scopes: []string{"network"},
		Approvers: []string{approverLine(t, "ada"), approverLine(t, "bob"), approverLine(t, "cid")},
		Approvals: 1, MaxDuration: Duration(time.Hour), RequireReason: true, After: AfterRevert,
	}
}

func validRequest() GrantRequest {
	return GrantRequest{
		Version: 1, ID: "g1", Environment: "prod", Policy: "on-call", Targets: []string{"aws_instance.a"},
		Reason: "outage", Opened: noon, Until: noon.Add(30 * time.Minute),
	}
}

func signRequest(t *testing.T, request GrantRequest, name string) []byte {
	t.Helper()
	signed, err := SignGrantRequest(request, testSigner(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

func TestGrantRefusals(t *testing.T) {
	t.Parallel()
	edit := func(e func(*GrantRequest)) []byte { return signRequest(t, change(validRequest(), e), "ada") }
	tests := map[string]struct {
		request []byte
		want    error
	}{
		"good":                 {signRequest(t, validRequest(), "ada"), nil},
		"opened by a stranger": {signRequest(t, validRequest(), "mallory"), ErrGrantRefused},
		"longer than allowed":  {edit(func(g *GrantRequest) { g.Until = noon.Add(61 * time.Minute) }), ErrGrantRefused},
		"no reason":            {edit(func(g *GrantRequest) { g.Reason = "" }), ErrGrantRefused},
		"another policy":       {edit(func(g *GrantRequest) { g.Policy = "weekend" }), ErrGrantRefused},
		"another environment":  {edit(func(g *GrantRequest) { g.Environment = "dev" }), ErrGrantRefused},
		"opened in the future": {edit(func(g *GrantRequest) { g.Opened, g.Until = noon.Add(time.Hour), noon.Add(2*time.Hour) }), ErrGrantRefused},
		"not signed":           {[]byte(`{"version":1,"payload":"e30=","public_key":"` + approverLine(t, "ada") + `","signature":""}`), ErrSignature},
		"changed afterwards":   {bytes.Replace(signRequest(t, validRequest(), "ada"), []byte(`"payload":"ey`), []byte(`"payload":"eX`), 1), ErrSignature},
		"stolen signature":     {bytes.Replace(signRequest(t, validRequest(), "mallory"), []byte(approverLine(t, "mallory")), []byte(approverLine(t, "ada")), 1), ErrSignature},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			grant, err := VerifyGrant(validPolicy(t), GrantFiles{Request: test.request}, noon)
			if !errors.Is(err, test.want) {
				t.Fatalf("VerifyGrant: %v; want %v", err, test.want)
			}
			if err == nil && grant.Phase != GrantOpen {
				t.Errorf("phase %s; want open", grant.Phase)
			}
		})
	}
}

func TestGrantPhases(t *testing.T) {
	t.Parallel()
	request := signRequest(t, validRequest(), "ada")
	approve := func(name string) []byte {
		signed, err := ApproveGrant(GrantFiles{Request: request}, testSigner(t, name))
		if err != nil {
			t.Fatal(err)
		}
		return signed
	}
	closure := func(id, name string, closed time.Time) []byte {
		signed, err := SignGrantClosure(GrantClosure{Version: 1, ID: id, Closed: closed}, testSigner(t, name))
		if err != nil {
			t.Fatal(err)
		}
		return signed
	}
	other := signRequest(t, change(validRequest(), func(g *GrantRequest) { g.ID = "g2" }), "bob")
	tests := map[string]struct {
		approvals int
		files     GrantFiles
		now       time.Time
		want      GrantPhase
	}{
		"one of one":                   {1, GrantFiles{}, noon, GrantOpen},
		"one of two":                   {2, GrantFiles{}, noon, GrantPending},
		"two of two":                   {2, GrantFiles{Approvals: [][]byte{approve("bob")}}, noon, GrantOpen},
		"opener approves twice":        {2, GrantFiles{Approvals: [][]byte{approve("ada"), approve("ada")}}, noon, GrantPending},
		"stranger approves":            {2, GrantFiles{Approvals: [][]byte{approve("mallory")}}, noon, GrantPending},
		"approval of another grant":    {2, GrantFiles{Approvals: [][]byte{other}}, noon, GrantPending},
		"rubbish among approvals":      {2, GrantFiles{Approvals: [][]byte{[]byte("{"), approve("bob")}}, noon, GrantOpen},
		"last moment":                  {1, GrantFiles{}, noon.Add(30*time.Minute - 1), GrantOpen},
		"over":                         {1, GrantFiles{}, noon.Add(30 * time.Minute), GrantExpired},
		"closed":                       {1, GrantFiles{Closures: [][]byte{closure("g1", "bob", noon)}}, noon, GrantClosed},
		"closed by a stranger":         {1, GrantFiles{Closures: [][]byte{closure("g1", "mallory", noon)}}, noon, GrantOpen},
		"closure of another grant":     {1, GrantFiles{Closures: [][]byte{closure("g2", "bob", noon)}}, noon, GrantOpen},
		"closed by a clock far ahead":  {1, GrantFiles{Closures: [][]byte{closure("g1", "bob", noon.Add(9*time.Hour))}}, noon, GrantExpired},
		"pending and then out of time": {2, GrantFiles{}, noon.Add(time.Hour), GrantExpired},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			policy := validPolicy(t)
			policy.Approvals = test.approvals
			test.files.Request = request
			grant, err := VerifyGrant(policy, test.files, test.now)
			if err != nil || grant.Phase != test.want {
				t.Errorf("VerifyGrant = %s, %v; want %s", grant.Phase, err, test.want)
			}
			earlier, err := VerifyGrant(policy, test.files, noon)
			if got := earlier.At(test.now); err != nil || !reflect.DeepEqual(got, grant) {
				t.Errorf("judged before, it is %+v, %v; want %+v", got, err, grant)
			}
		})
	}
}

// TestSignatureOfAnotherNamespace has an approver's signature made for something
// else, such as a commit, presented as a grant.
func TestSignatureOfAnotherNamespace(t *testing.T) {
	t.Parallel()
	signed := signRequest(t, validRequest(), "ada")
	keygen, err := exec.LookPath("ssh-keygen")
	if err != nil {
		t.Fatalf("this test needs OpenSSH's ssh-keygen: %v", err)
	}
	key := filepath.Join(t.TempDir(), "key")
	run(t, "", keygen, "-q", "-t", "ed25519", "-N", "", "-f", key)
	pemBytes, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ParseApproverKey(pemBytes, nil)
	if err != nil {
		t.Fatal(err)
	}
	payload, _, err := openGrant(signed)
	if err != nil {
		t.Fatal(err)
	}
	policy := validPolicy(t)
	policy.Approvers[0] = string(ssh.MarshalAuthorizedKey(signer.PublicKey()))
	for namespace, want := range map[string]error{GrantNamespace: nil, "git": ErrSignature} {
		armored := run(t, string(payload), keygen, "-q", "-Y", "sign", "-n", namespace, "-f", key)
		envelope := mustJSON(t, personEnvelope{Version: 1, Payload: payload, PublicKey: strings.TrimSpace(policy.Approvers[0]), Signature: armored})
		if _, err := VerifyGrant(policy, GrantFiles{Request: envelope}, noon); !errors.Is(err, want) {
			t.Errorf("signature of ssh-keygen in namespace %s: %v; want %v", namespace, err, want)
		}
	}
}

func TestParseApproverKey(t *testing.T) {
	t.Parallel()
	_, key := testKey("ada")
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	locked, err := ssh.MarshalPrivateKeyWithPassphrase(key, "", []byte("open sesame"))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		pem        []byte
		passphrase string
		ok         bool
	}{
		"PKCS8":            {pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), "", true},
		"encrypted":        {pem.EncodeToMemory(locked), "open sesame", true},
		"wrong passphrase": {pem.EncodeToMemory(locked), "guess", false},
		"no passphrase":    {pem.EncodeToMemory(locked), "", false},
		"rubbish":          {[]byte("hello"), "", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			signer, err := ParseApproverKey(test.pem, []byte(test.passphrase))
			if (err == nil) != test.ok {
				t.Fatalf("ParseApproverKey: %v; want success %t", err, test.ok)
			}
			if test.ok && ApproverID(signer.PublicKey()) != ApproverID(testSigner(t, "ada").PublicKey()) {
				t.Error("another key came out")
			}
		})
	}
}

func run(t *testing.T, input string, command ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Stdin = strings.NewReader(input)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v: %s", command, err, stderr.String())
	}
	return string(out)
}

func mustJSON(t *testing.T, value any) []byte {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// An extension counts if enough approvers have signed the same end, each while the grant
// was still open, and within the policy's longest time.
func TestExtensions(t *testing.T) {
	t.Parallel()
	opened := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	ana, ben, eve := testSigner(t, "ana"), testSigner(t, "ben"), testSigner(t, "eve")
	policy := BreakGlassPolicy{
		Version: FormatVersion, Environment: "prod", Name: "p", Scopes: []string{"s"}, Approvals: 2, MaxDuration: Duration(2 * time.Hour), After: AfterRevert,
		Approvers: []string{approverLine(t, "ana"), approverLine(t, "ben")},
	}
	request := GrantRequest{Version: FormatVersion, ID: "g", Environment: "prod", Policy: "p", Targets: []string{"**"}, Opened: opened, Until: opened.Add(time.Hour)}
	sign := func(signer ssh.Signer, id string, until, at time.Duration) []byte {
		signed, err := SignGrantExtension(GrantExtension{Version: FormatVersion, ID: id, Until: opened.Add(until), Time: opened.Add(at)}, signer)
		if err != nil {
			t.Fatal(err)
		}
		return signed
	}
	const half, ninety, two, three = 30 * time.Minute, 90 * time.Minute, 2 * time.Hour, 3 * time.Hour
	tests := map[string]struct {
		extensions [][]byte
		want       time.Duration
	}{
		"none":                            {nil, time.Hour},
		"one of two":                      {[][]byte{sign(ana, "g", ninety, half)}, time.Hour},
		"the same one twice":              {[][]byte{sign(ana, "g", ninety, half), sign(ana, "g", ninety, half)}, time.Hour},
		"two of two":                      {[][]byte{sign(ana, "g", ninety, half), sign(ben, "g", ninety, half)}, ninety},
		"two ends":                        {[][]byte{sign(ana, "g", ninety, half), sign(ben, "g", two, half)}, time.Hour},
		"one after the other":             {[][]byte{sign(ana, "g", two, 80*time.Minute), sign(ben, "g", two, half), sign(ana, "g", ninety, half), sign(ben, "g", ninety, half)}, two},
		"after the end":                   {[][]byte{sign(ana, "g", ninety, half), sign(ben, "g", ninety, 61*time.Minute)}, time.Hour},
		"beyond the longest time":         {[][]byte{sign(ana, "g", three, half), sign(ben, "g", three, half)}, time.Hour},
		"of another grant":                {[][]byte{sign(ana, "h", ninety, half), sign(ben, "h", ninety, half)}, time.Hour},
		"by somebody else":                {[][]byte{sign(ana, "g", ninety, half), sign(eve, "g", ninety, half)}, time.Hour},
		"junk":                            {[][]byte{[]byte("{}"), nil}, time.Hour},
		"an earlier end shortens nothing": {[][]byte{sign(ana, "g", half, time.Minute), sign(ben, "g", half, time.Minute)}, time.Hour},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			signed, err := SignGrantRequest(request, ana)
			if err != nil {
				t.Fatal(err)
			}
			grant, err := VerifyGrant(policy, GrantFiles{Request: signed, Extensions: test.extensions}, opened.Add(half))
			if err != nil || !grant.Request.Until.Equal(opened.Add(test.want)) {
				t.Errorf("it ends at %s, %v, want %s", grant.Request.Until, err, opened.Add(test.want))
			}
		})
	}
}

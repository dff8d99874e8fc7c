package trust

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"
)

// TestAttackMetadata presents each attack to a verifier that saw the honest publication
// before.
func TestAttackMetadata(t *testing.T) {
	t.Parallel()
	older := func(role string) func(*publication) {
		return func(p *publication) { p.versions[role]-- }
	}
	newer := func(p *publication) { p.versions[RoleTimestamp]++; p.versions[RoleSnapshot]++ }
	strangers := Keyring{testKey("mallory")}
	tests := map[string]struct {
		attack func(*publication)
		want   error
	}{
		"honest":             {func(p *publication) { newer(p); p.sign() }, nil},
		"timestamp rollback": {func(p *publication) { older(RoleTimestamp)(p); p.sign() }, ErrRollback},
		"snapshot rollback":  {func(p *publication) { newer(p); p.versions[RoleSnapshot] = 4; p.sign() }, ErrRollback},
		"role rollback":      {func(p *publication) { newer(p); older(ChannelRole("stable"))(p); p.sign() }, ErrRollback},
		"forgotten role": {func(p *publication) {
			newer(p)
			p.seal(map[string]FileInfo{RoleTargets: fileOf(3, p.targetsFile)})
		}, ErrRollback},
		"old snapshot under a new timestamp": {func(p *publication) {
			old := p.snapshot
			newer(p)
			p.sign()
			p.snapshot = old
		}, ErrMixAndMatch},
		"role of another publication": {func(p *publication) {
			role := EnvironmentRole("prod")
			p.roles[role] = p.must(p.signing.Role(9, role, p.delegations[0].RoleSpec, nil))
		}, ErrMixAndMatch},
		"timestamp by a stranger": {func(p *publication) {
			newer(p)
			p.timestamp = p.forge(strangers, func(s Signing) ([]byte, error) {
				return s.Timestamp(9, spec(1, "mallory"), fileOf(6, p.snapshot))
			})
		}, ErrUnsigned},
		"environment by a stranger": {func(p *publication) {
			newer(p)
			p.replaceRole(EnvironmentRole("prod"), Signing{strangers, noon}, spec(1, "mallory"))
		}, ErrUnsigned},
		"environment by another environment's key": {func(p *publication) {
			newer(p)
			p.replaceRole(EnvironmentRole("prod"), Signing{Keyring{testKey("ci")}, noon}, spec(1, "ci"))
		}, ErrUnsigned},
		"channel by one key of two": {func(p *publication) {
			newer(p)
			p.replaceRole(ChannelRole("stable"), Signing{Keyring{testKey("ci")}, noon}, spec(1, "ci"))
		}, ErrThreshold},
		"role without signatures": {func(p *publication) {
			newer(p)
			role := ChannelRole("stable")
			p.roles[role] = stripSignatures(p.t, p.roles[role])
			p.sealRoles()
		}, ErrUnsigned},
		"target of another environment": {func(p *publication) {
			newer(p)
			p.replaceContent(EnvironmentRole("prod"), "environments/prod/", "environments/test/")
		}, ErrOutsideRole},
		"revision signed by an environment": {func(p *publication) {
			newer(p)
			p.replaceContent(EnvironmentRole("prod"), "environments/prod/scopes/net.json", "channels/stable/9.tar.zst")
		}, ErrOutsideRole},
		"path that climbs": {func(p *publication) {
			newer(p)
			p.replaceContent(EnvironmentRole("prod"), "environments/prod/scopes/net.json", "environments/prod/../net.json")
		}, ErrOutsideRole},
		"frozen for two days": {func(p *publication) {
			p.signing.Now = noon.Add(-48 * time.Hour)
			newer(p)
			p.sign()
		}, ErrExpired},
		"null for a target":     {func(p *publication) { p.rawRole(`{"signed":{"_type":"targets","targets":{"x":null}},"signatures":[]}`) }, ErrMalformed},
		"timestamp of nothing":  {func(p *publication) { p.timestamp = []byte(`{"signed":{"_type":"timestamp","meta":{}}}`) }, ErrMalformed},
		"snapshot as timestamp": {func(p *publication) { p.timestamp = p.snapshot }, ErrMalformed},
		"not JSON":              {func(p *publication) { p.timestamp = []byte("<html>") }, ErrMalformed},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := newPublication(t)
			p := newPublication(t)
			test.attack(p)
			v := p.verifier(noon)
			v.RememberTimestamp(seen.timestamp)
			if err := rememberThen(v, seen, p); !errors.Is(err, test.want) {
				t.Errorf("verification: %v; want %v", err, test.want)
			}
		})
	}
}

// rememberThen does what a client does that saw another publication before.
func rememberThen(v *Verifier, seen, p *publication) error {
	if err := v.Timestamp(p.timestamp); err != nil {
		return err
	}
	v.RememberSnapshot(seen.snapshot)
	return p.verifyRest(v)
}

func (p *publication) forge(keys Keyring, sign func(Signing) ([]byte, error)) []byte {
	p.t.Helper()
	return p.must(sign(Signing{keys, noon}))
}

// replaceRole has others sign a role, and whoever holds the snapshot key publish it.
func (p *publication) replaceRole(role string, by Signing, spec RoleSpec) {
	p.t.Helper()
	p.roles[role] = p.must(by.Role(p.versions[role], role, spec, p.targets[role]))
	p.sealRoles()
}

// replaceContent has the rightful key sign text that [Signing.Role] would not.
func (p *publication) replaceContent(role, old, new string) {
	p.t.Helper()
	var file struct {
		Signed     json.RawMessage `json:"signed"`
		Signatures []any           `json:"signatures"`
	}
	if err := json.Unmarshal(bytes.ReplaceAll(p.roles[role], []byte(old), []byte(new)), &file); err != nil {
		p.t.Fatal(err)
	}
	payload := canonical(p.t, file.Signed)
	signature, err := testKey("env").Sign(payload)
	if err != nil {
		p.t.Fatal(err)
	}
	file.Signatures = []any{map[string]string{"keyid": testKey("env").Public().ID(), "sig": fmt.Sprintf("%x", signature)}}
	p.roles[role], err = json.Marshal(file)
	if err != nil {
		p.t.Fatal(err)
	}
	p.sealRoles()
}

func (p *publication) rawRole(text string) { p.roles[EnvironmentRole("prod")] = []byte(text) }

func (p *publication) sealRoles() {
	files := map[string]FileInfo{RoleTargets: fileOf(p.versions[RoleTargets], p.targetsFile)}
	for role, data := range p.roles {
		files[role] = fileOf(p.versions[role], data)
	}
	p.seal(files)
}

func stripSignatures(t *testing.T, data []byte) []byte {
	t.Helper()
	var file map[string]json.RawMessage
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	file["signatures"] = json.RawMessage("[]")
	out, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

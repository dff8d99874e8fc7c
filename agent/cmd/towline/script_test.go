package main

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/objstore/open"
	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// scriptCommands play the parties whose programs the scripts do not run: the
// provider that declares, the agent that reports, and somebody who tampers.
var scriptCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"declare":  scriptCommand(declare),
	"enrol":    scriptCommand(enrol),
	"beat":     scriptCommand(beat),
	"receipt":  scriptCommand(receipt),
	"tamper":   scriptCommand(tamper),
	"replace":  scriptCommand(replace),
	"grantid":  scriptCommand(grantID),
	"later":    scriptCommand(later),
	"approval": scriptCommand(approval),
	"propose":  scriptCommand(propose),
	"squat":    scriptCommand(squat),
	"machine":  scriptCommand(machine),

	"both":      both,
	"samestate": sameState,
	"s3server":  s3Server,
	"registry":  startRegistry,
	"regmodule": registryModule,
	"regtoken":  registryToken,

	"regprovider": registryProvider,
	"spoil":       spoil,
	"regforget":   registryForget,
	"installed":   installed,
	"spoilstore":  spoilStore,
	"regasked":    registryAsked,
	"regreplace":  registryReplace,
	"served":      served,
	"expand":      expand,
	"mistake":     mistaken,
	"sed":         edit,
	"stream":      streamBoth,
	"waitfor":     waitFor,
	"lockstate":   lockState,
}

// script is what such a command works with.
type script struct {
	ts    *testscript.TestScript
	store objstore.Store
}

// repo opens the repository, which must be whole.
func (s script) repo() *repository.Repository {
	repo, err := repository.Open(context.Background(), s.store, "")
	s.ts.Check(err)
	return repo
}

func scriptCommand(do func(s script, args []string) error) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg {
			ts.Fatalf("this command cannot be negated")
		}
		store, err := open.Open(context.Background(), ts.Getenv("TOWLINE_REPOSITORY"))
		ts.Check(err)
		ts.Check(do(script{ts, store}, args))
	}
}

func (s script) key(file string) trust.Key {
	key, err := trust.ParseKey([]byte(s.ts.ReadFile(file)))
	s.ts.Check(err)
	return key
}

func (s script) newKey(file string) (trust.Key, error) {
	return newKeyFile(s.ts.MkAbs(file))
}

// declare agent ENV NAME GENERATION | scope ENV NAME ADDRESS | policy ENV NAME SCOPE
// APPROVALS MAX PUBLIC-KEY-FILE... The key in the file $RINGER may ring for agents. It is signed as if $SIGNED_AGO had passed since.
func declare(s script, args []string) error {
	kind, environment, name, rest := args[0], args[1], args[2], args[3:]
	var doc control.Declared
	switch kind {
	case "agent":
		agent, err := s.agent(environment, name, rest[0])
		if err != nil {
			return err
		}
		doc = agent
	case "scope":
		doc = control.Scope{
			Version: control.FormatVersion, Environment: environment, Name: name,
			Include: []control.Match{{Address: rest[0]}}, Drift: control.Drift{Mode: control.DriftEnforce},
		}
	case "policy":
		policy, err := s.policy(environment, name, rest)
		if err != nil {
			return err
		}
		doc = policy
	default:
		return fmt.Errorf("declare %s: it is not known", kind)
	}
	ago, err := time.ParseDuration(cmp.Or(s.ts.Getenv("SIGNED_AGO"), "0s"))
	if err != nil {
		return err
	}
	signing := trust.Signing{Keys: trust.Keyring{s.key(s.ts.Getenv("TOWLINE_SIGNING_KEY_FILE"))}, Now: time.Now().Add(-ago)}
	_, err = s.repo().PutDocuments(context.Background(), signing, doc)
	return err
}

func (s script) agent(environment, name, generation string) (control.Agent, error) {
	var number int
	if _, err := fmt.Sscan(generation, &number); err != nil {
		return control.Agent{}, err
	}
	token, err := s.newKey(name + ".token." + generation)
	if err != nil {
		return control.Agent{}, err
	}
	var signals *control.Signals
	if file := s.ts.Getenv("RINGER"); file != "" {
		signals = &control.Signals{Keys: []string{strings.TrimSpace(s.ts.ReadFile(file))}}
	}
	return control.Agent{
		Version: control.FormatVersion, Environment: environment, Name: name, Channel: "stable", Scopes: []string{"app"}, PollInterval: control.Duration(time.Minute),
		Signals: signals,
		Join:    control.Join{Generation: number, PublicKey: token.Public().String(), Expires: time.Now().Add(time.Hour).UTC().Truncate(time.Second)},
	}, nil
}

func (s script) policy(environment, name string, rest []string) (control.BreakGlassPolicy, error) {
	policy := control.BreakGlassPolicy{
		Version: control.FormatVersion, Environment: environment, Name: name, Scopes: []string{rest[0]},
		RequireReason: true, After: control.AfterRevert,
	}
	if _, err := fmt.Sscan(rest[1], &policy.Approvals); err != nil {
		return policy, err
	}
	longest, err := time.ParseDuration(rest[2])
	policy.MaxDuration = control.Duration(longest)
	for _, file := range rest[3:] {
		policy.Approvers = append(policy.Approvers, strings.TrimSpace(s.ts.ReadFile(file)))
	}
	return policy, err
}

// enrol ENV NAME KEY-FILE TOKEN-FILE: a new machine claims the enrolment.
func enrol(s script, args []string) error {
	environment, name, keyFile, tokenFile := args[0], args[1], args[2], args[3]
	declared, err := s.declared(environment, name)
	if err != nil {
		return err
	}
	key, err := s.newKey(keyFile)
	if err != nil {
		return err
	}
	claim := control.Claim{
		Version: control.FormatVersion, Environment: environment, Agent: name, Generation: declared.Join.Generation,
		AgentKey: key.Public().String(), Time: time.Now().UTC(), Hostname: "ip-10-0-0-7",
	}
	signed, err := control.SignClaim(claim, s.key(tokenFile).Ed25519(), key.Ed25519())
	if err != nil {
		return err
	}
	_, err = s.store.PutIfAbsent(context.Background(), control.ClaimKey(environment, name, declared.Join.Generation), signed)
	return err
}

func (s script) declared(environment, name string) (control.Agent, error) {
	doc, err := s.repo().Document(context.Background(), control.Ref{Kind: control.KindAgent, Environment: environment, Name: name})
	agent, _ := doc.(control.Agent)
	return agent, err
}

// beat [-age D] [-next D] [-outcome O] [-message M] [-old] ENV NAME KEY-FILE: the
// agent reports that it keeps the published revision, with -old another one.
func beat(s script, args []string) error {
	flags := flag.NewFlagSet("beat", flag.ContinueOnError)
	age, next := flags.Duration("age", 0, ""), flags.Duration("next", time.Minute, "")
	outcome, message := flags.String("outcome", "converged", ""), flags.String("message", "", "")
	proposal := flags.String("proposal", "", "")
	drift, old := flags.Int("drift", 0, ""), flags.Bool("old", false, "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	environment, name := flags.Arg(0), flags.Arg(1)
	at := time.Now().Add(-*age).UTC()
	report := control.Heartbeat{
		Version: control.FormatVersion, Environment: environment, Agent: name, Time: at, AgentVersion: "1.2.3", Channel: "stable",
		Outcome: control.Outcome(*outcome), Message: *message, Drift: *drift, Objects: 30, Proposal: *proposal, NextRound: at.Add(*next),
	}
	list, err := s.repo().Revisions(context.Background(), "stable")
	if err != nil {
		return err
	}
	if len(list) > 0 {
		report.Revision = list[0].Digest
	}
	if *old {
		report.Revision = strings.Repeat("0", 64)
	}
	if last, err := s.lastReceipt(environment, name); err == nil {
		report.Epoch, report.Sequence, _ = control.ParseReceiptKey(last.Key)
	}
	signed, err := control.Sign(report, s.key(flags.Arg(2)).Ed25519())
	if err != nil {
		return err
	}
	_, err = s.store.Put(context.Background(), control.HeartbeatKey(environment, name), signed)
	return err
}

func (s script) lastReceipt(environment, name string) (objstore.Info, error) {
	var last objstore.Info
	for info, err := range s.store.List(context.Background(), control.ReceiptPrefix(environment, name)) {
		if err != nil {
			return last, err
		}
		last = info
	}
	if last.Key == "" {
		return last, errors.New("there is no receipt")
	}
	return last, nil
}

// receipt [-epoch N] [-drift ADDRESS.ATTRIBUTE=DECISION] [-grant ID [-ended]] ENV NAME
// KEY-FILE: the agent ends a round. With a grant the drift has changed while it was
// open, and with -ended the decisions are what became of it.
func receipt(s script, args []string) error {
	flags := flag.NewFlagSet("receipt", flag.ContinueOnError)
	epoch := flags.Int64("epoch", 1, "")
	var drift repeated
	flags.Var(&drift, "drift", "")
	grant, ended := flags.String("grant", "", ""), flags.Bool("ended", false, "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	environment, name := flags.Arg(0), flags.Arg(1)
	now := time.Now().UTC()
	doc := control.Receipt{
		Version: control.FormatVersion, Environment: environment, Agent: name, Epoch: *epoch, Sequence: 1, Channel: "stable",
		Started: now.Add(-2 * time.Second), Finished: now, Outcome: control.OutcomeConverged, Revision: strings.Repeat("a", 64),
	}
	if last, err := s.lastReceipt(environment, name); err == nil {
		_, sequence, _ := control.ParseReceiptKey(last.Key)
		object, err := s.store.Get(context.Background(), last.Key, control.MaxDocument)
		if err != nil {
			return err
		}
		doc.Sequence, doc.Previous = sequence+1, control.ReceiptDigest(object.Data)
	}
	for _, text := range drift {
		path, decision, _ := strings.Cut(text, "=")
		at := strings.LastIndex(path, ".")
		doc.Outcome = control.OutcomeDrifted
		doc.Drift = append(doc.Drift, control.DriftItem{Address: path[:at], Attributes: []string{path[at+1:]}, Decision: decision, Since: now.Add(-5 * time.Minute)})
	}
	doc.DriftSet = control.DriftSet(doc.Drift)
	if *grant != "" {
		tellOfGrant(&doc, *grant, *ended)
	}
	return s.putReceipt(doc, s.key(flags.Arg(2)).Ed25519())
}

func tellOfGrant(doc *control.Receipt, id string, ended bool) {
	var changes []control.GrantChange
	for _, item := range doc.Drift {
		change := control.GrantChange{Address: item.Address, Attributes: item.Attributes, Since: item.Since}
		if ended {
			change.Result = item.Decision
		}
		changes = append(changes, change)
	}
	if ended {
		doc.GrantsEnded = []control.GrantEnd{{ID: id, Policy: "emergency", Ended: doc.Finished, After: control.AfterRevert, Changed: changes}}
		return
	}
	doc.Grants = []control.GrantUse{{ID: id, Policy: "emergency", Until: doc.Finished.Add(time.Minute), Changed: changes}}
}

func (s script) putReceipt(doc control.Receipt, key ed25519.PrivateKey) error {
	signed, err := control.Sign(doc, key)
	if err != nil {
		return err
	}
	_, err = s.store.PutIfAbsent(context.Background(), control.ReceiptKey(doc.Environment, doc.Agent, doc.Epoch, doc.Sequence), signed)
	return err
}

// tamper GLOB: somebody changes one byte in the middle of a file.
func tamper(s script, args []string) error {
	path, err := s.only(args[0])
	if err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	data[len(data)/2] ^= 1
	return os.WriteFile(path, data, 0o600)
}

// replace GLOB FILE: somebody puts another content in a file's place.
func replace(s script, args []string) error {
	path, err := s.only(args[0])
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(s.ts.ReadFile(args[1])), 0o600)
}

func (s script) only(glob string) (string, error) {
	paths, err := filepath.Glob(s.ts.MkAbs(glob))
	if err == nil && len(paths) != 1 {
		err = fmt.Errorf("%s matches %d files, not one", glob, len(paths))
	}
	if err != nil {
		return "", err
	}
	return paths[0], nil
}

// later DURATION sets $LATER to a time to come.
func later(s script, args []string) error {
	length, err := time.ParseDuration(args[0])
	s.ts.Setenv("LATER", time.Now().Add(length).UTC().Format(time.RFC3339))
	return err
}

// grantID [FOLDER] sets $GRANT to the newest grant, of the store or of a machine's folder.
func grantID(s script, args []string) error {
	var ids []string
	for info, err := range s.store.List(context.Background(), control.GrantsPrefix("prod")) {
		if err != nil {
			return err
		}
		id, _, _ := strings.Cut(strings.TrimPrefix(info.Key, control.GrantsPrefix("prod")), "/")
		ids = append(ids, id)
	}
	for _, folder := range args {
		paths, err := filepath.Glob(filepath.Join(s.ts.MkAbs(folder), "*.request.json"))
		if err != nil {
			return err
		}
		for _, path := range paths {
			ids = append(ids, strings.TrimSuffix(filepath.Base(path), ".request.json"))
		}
	}
	if len(ids) > 0 {
		s.ts.Setenv("GRANT", slices.Max(ids))
	}
	return nil
}

// squat PUBLIC-KEY-FILE: somebody writes where an approver's signature belongs.
func squat(s script, args []string) error {
	approver, err := control.ParseApprover(strings.TrimSpace(s.ts.ReadFile(args[0])))
	if err != nil {
		return err
	}
	_, err = s.store.PutIfAbsent(context.Background(), control.GrantApprovalKey("prod", s.ts.Getenv("GRANT"), control.ApproverID(approver)), []byte("{}"))
	return err
}

// machine ENV NAME: an agent's machine, with its configuration in agent.hcl and what it
// has verified in its data folder.
func machine(s script, args []string) error {
	environment, name := args[0], args[1]
	root, data := s.repo().Root(), s.ts.MkAbs("data")
	if err := os.WriteFile(s.ts.MkAbs("root.json"), root, 0o600); err != nil {
		return err
	}
	config := fmt.Sprintf("store = %q\nenvironment = %q\nagent = %q\ntrusted_root = %q\ndata_dir = %q\n",
		s.store.URL(), environment, name, s.ts.MkAbs("root.json"), data)
	if err := os.WriteFile(s.ts.MkAbs("agent.hcl"), []byte(config), 0o600); err != nil {
		return err
	}
	client, err := repository.NewClient(s.store, filepath.Join(data, "repository"), root)
	if err != nil {
		return err
	}
	if _, err := client.Update(context.Background(), time.Now(), environment, "stable"); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(data, "memory.json"), []byte(`{"channel": "stable"}`), 0o600)
}

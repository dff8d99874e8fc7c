package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"

	"github.com/towline/terraform-provider-towline/agent"
	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/repository"
)

// grantPlace is where a verb reads and writes files about grants, and what was verified
// that they are judged by.
type grantPlace interface {
	declared() *repository.State
	// read reads the files of one grant.
	read(ctx context.Context, id string) (repository.GrantFiles, error)
	// add writes a file once; [objstore.ErrExist] if something else is in its place.
	add(ctx context.Context, file repository.SignedFile) error
}

// inStore is the repository's store.
type inStore struct {
	store objstore.Store
	state *repository.State
}

func (p inStore) declared() *repository.State { return p.state }

func (p inStore) read(ctx context.Context, id string) (repository.GrantFiles, error) {
	return repository.ReadGrant(ctx, p.store, p.state, id)
}

func (p inStore) add(ctx context.Context, file repository.SignedFile) error {
	_, err := p.store.PutIfAbsent(ctx, file.Key, file.Data)
	if !errors.Is(err, objstore.ErrExist) {
		return err
	}
	there, getErr := p.store.Get(ctx, file.Key, control.MaxDocument)
	if getErr == nil && bytes.Equal(there.Data, file.Data) {
		return nil
	}
	return cmp.Or(getErr, err)
}

// onMachine is the folder of the agent on this machine, which uploads what is written
// there.
type onMachine struct {
	app    *app
	folder repository.GrantFolder
	state  *repository.State
	// clicked is what people did in Slack, as the agent has read it last.
	clicked repository.GrantFiles
}

func (p onMachine) declared() *repository.State { return p.state }

func (p onMachine) read(context.Context, string) (repository.GrantFiles, error) {
	files, refused, err := p.folder.Read()
	for _, why := range refused {
		p.app.note("Not counted: %s.", why)
	}
	return files.With(p.clicked), p.explain(err)
}

func (p onMachine) add(_ context.Context, file repository.SignedFile) error {
	return p.explain(p.folder.Add(file))
}

func (p onMachine) explain(err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return noAccess(err)
	case errors.Is(err, repository.ErrFolderFull):
		return mistake("Too many files about grants", fmt.Sprintf("%s Nothing was written. The agent removes what has ended once the store has it; remove from %s what does not belong there.", sentence(err), p.folder.Path()))
	}
	return err
}

// noAccess says who may work on an agent's data folder.
func noAccess(err error) error {
	return mistake("Agent's data folder cannot be used", fmt.Sprintf("%s It belongs to the agent's user: run this as root or as that user, such as with sudo.", sentence(err)))
}

// localHelp says how to break the glass without the store.
const localHelp = `Where the store cannot be reached, -local on the machine of the environment's agent
does without it: as root, or as the agent's user. The agent obeys before its next
decision and its next call, whether it runs or is started later, and uploads what
was signed when it can. It holds on this machine only until then.`

// localAccess says whether a verb works on the machine of an agent, without the store.
type localAccess struct {
	local  bool
	config string
}

func (l *localAccess) flags(flags *flag.FlagSet) {
	flags.BoolVar(&l.local, "local", false, "work on this agent's machine, without the store: by the policies that the agent has verified last. The agent obeys at once, and uploads what was signed when the store can be reached")
	flags.StringVar(&l.config, "config", defaultAgentConfig, "with -local: the agent's configuration `file`")
}

// open finds what the agent on this machine has verified last.
func (l *localAccess) open(ctx context.Context, a *app, environment string) (onMachine, error) {
	config, diags := agent.LoadConfig(l.config)
	if diags.HasErrors() {
		return onMachine{}, diags.Err()
	}
	if environment != "" && environment != config.Environment {
		return onMachine{}, mistake("Agent is of another environment", fmt.Sprintf("The agent on this machine works for environment %s, and -environment %s was given. What is signed with -local holds on this machine until it is uploaded: run it where an agent of that environment is.", config.Environment, environment))
	}
	state, err := agent.LastDeclared(ctx, config)
	var clicked repository.GrantFiles
	if err == nil {
		clicked, err = agent.LastClicked(config)
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		return onMachine{}, noAccess(err)
	case errors.Is(err, agent.ErrNothingVerified), errors.Is(err, repository.ErrNothingKept):
		return onMachine{}, mistake("Nothing is verified on this machine", sentence(err)+" Without that nobody knows who may break the glass. Leave out -local while the store can be reached.")
	case err != nil:
		return onMachine{}, err
	}
	return onMachine{a, repository.OpenGrantFolder(config.DataDir, config.Environment), state, clicked}, nil
}

package main

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/towline/terraform-provider-towline/internal/bundle"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/plugin/cliconfig"
	"github.com/towline/terraform-provider-towline/internal/plugin/install"
	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// publisher is what "publish" is told.
type publisher struct {
	app     *app
	at      *access
	signers *signers
	channel string
	note    repository.Note
	// packages tells whether providers' packages are published, for platforms.
	packages  bool
	platforms platformFlag
}

func (a *app) publishCommand() *command {
	flags := flag.NewFlagSet("publish", flag.ContinueOnError)
	p := &publisher{app: a, at: a.accessFlags(flags), signers: signerFlags(flags)}
	flags.StringVar(&p.channel, "channel", "", "`NAME` of the channel")
	flags.StringVar(&p.note.Message, "message", "", "what to say about the revision; it is signed with it")
	flags.StringVar(&p.note.Source, "source", "", "where the content comes from, such as a commit")
	flags.BoolVar(&p.packages, "packages", true, "publish the packages of the locked providers, so that agents need no other source")
	p.platforms.register(flags)
	a.jsonFlag(flags)
	return &command{
		synopsis: "Publish a configuration as a channel's revision", usage: "-channel NAME [options] [DIR]", flags: flags,
		long: `Checks the configuration in DIR (default: the current directory), packs it with
its lock file and variable files, signs it and makes it the channel's current
revision. Publishing what is current already changes nothing and succeeds.

Installed modules travel in the revision, and the packages of the locked providers
beside it, each once, for the platforms of -platform (default: this machine's).
Agents then need no registry and no mirror.

Hidden files, .terraform and state files are left out, and what .terraformignore
names.

JSON: published (false if it was current already), channel, revision, sequence,
digest, files, packed_bytes, unpacked_bytes, created, message, source.`,
		run: a.verb(p.run),
	}
}

func (p *publisher) run(ctx context.Context, args []string) (int, error) {
	if len(args) == 0 {
		args = []string{"."}
	}
	dir, err := oneArgument(args, "publish", "the folder of the root module")
	if err != nil {
		return exitFailed, err
	}
	if p.channel == "" {
		return exitFailed, mistake("Channel is missing", "A revision is published on one channel. Give -channel NAME; agents follow the channel that their document names.")
	}
	config, err := p.check(dir)
	if err != nil {
		return exitFailed, err
	}
	signing, err := p.signers.signing(ctx)
	if err != nil {
		return exitFailed, err
	}
	r, err := p.at.open(ctx)
	if err != nil {
		return exitFailed, err
	}
	archive, err := p.pack(ctx, r, dir, config)
	if err != nil {
		return exitFailed, err
	}
	p.app.note("Publishing %s, %s packed, with digest %s to channel %s of %s.",
		plural(len(archive.Files), "file"), size(int64(len(archive.Data))), short(trust.Digest(archive.Data)), p.channel, r.Store().URL())
	revision, published, err := r.Publish(ctx, signing, p.channel, archive.Data, p.note)
	if err != nil {
		return exitFailed, err
	}
	return exitOK, p.print(revision, published, archive)
}

// check reads the configuration. What an agent could not load is not published.
func (p *publisher) check(dir string) (*configs.Config, error) {
	config, diags := configs.Load(dir)
	p.app.sources = config.Sources
	if !diags.HasErrors() && !configs.HasFiles(dir) {
		diags = append(diags, tfdiags.New(tfdiags.Error, "No configuration files", fmt.Sprintf("The folder %s holds no .tf or .tf.json files. Give the folder of the root module.", dir))...)
	}
	if diags.HasErrors() {
		return nil, diags.Err()
	}
	p.app.show(diags)
	// Mistakes of the files show before anything is stored.
	archive, err := bundle.PackWith(dir, bundle.DefaultLimits, bundle.Vendored{Paths: vendoredModules(dir, config)})
	if err != nil {
		return nil, err
	}
	diags = append(checkComplete(dir, config, archive), checkLock(dir, config, archive)...)
	if diags.HasErrors() {
		return nil, diags.Err()
	}
	p.app.show(diags)
	return config, nil
}

// pack stores the packages of providers and packs the configuration with their list.
func (p *publisher) pack(ctx context.Context, r *repository.Repository, dir string, config *configs.Config) (bundle.Archive, error) {
	vendored := bundle.Vendored{Paths: vendoredModules(dir, config)}
	if p.packages {
		index, err := p.storePackages(ctx, r, dir, config)
		if err != nil {
			return bundle.Archive{}, err
		}
		if index != nil {
			vendored.Files = map[string][]byte{repository.PackagesFile: index}
		}
	}
	return bundle.PackWith(dir, bundle.DefaultLimits, vendored)
}

// checkLock finds where the lock file that would be published does not fit the
// configuration: an agent would refuse the revision.
func checkLock(dir string, config *configs.Config, archive bundle.Archive) tfdiags.Diagnostics {
	if !slices.ContainsFunc(archive.Files, func(f bundle.File) bool { return f.Path == ".terraform.lock.hcl" }) {
		return nil
	}
	installation, diags := install.Open(dir, cliconfig.OSEnvironment())
	if diags.HasErrors() {
		return diags
	}
	return append(diags, installation.Check(config.ProviderRequirements())...)
}

// checkComplete finds what the configuration needs and the archive does not hold.
func checkComplete(dir string, config *configs.Config, archive bundle.Archive) tfdiags.Diagnostics {
	var diags tfdiags.Diagnostics
	packed := map[string]bool{}
	for _, file := range archive.Files {
		packed[file.Path] = true
	}
	var missing []string
	for name := range config.Sources {
		path, err := filepath.Rel(dir, name)
		if err != nil || !packed[filepath.ToSlash(path)] {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	for _, name := range missing {
		diags = append(diags, tfdiags.New(tfdiags.Error, "Configuration file is not in the revision", fmt.Sprintf(
			"The configuration uses %s, which would not travel with the revision: it lies outside %s, or is left out as hidden or by .terraformignore. Move it into the folder, or take it out of .terraformignore.", name, dir))...)
	}
	if len(config.ProviderRequirements()) > 0 && !packed[".terraform.lock.hcl"] {
		diags = append(diags, tfdiags.New(tfdiags.Warning, "No dependency lock file", fmt.Sprintf(
			"The folder %s has no .terraform.lock.hcl, so the agent is free to choose versions of providers. Run \"towline init\" and publish the file with the configuration.", dir))...)
	}
	return diags
}

// publication is the result of "publish" in JSON.
type publication struct {
	Published     bool      `json:"published"`
	Channel       string    `json:"channel"`
	Revision      string    `json:"revision"`
	Sequence      int64     `json:"sequence"`
	Digest        string    `json:"digest"`
	Files         int       `json:"files"`
	PackedBytes   int64     `json:"packed_bytes"`
	UnpackedBytes int64     `json:"unpacked_bytes"`
	Created       time.Time `json:"created"`
	Message       string    `json:"message,omitempty"`
	Source        string    `json:"source,omitempty"`
}

func (p *publisher) print(revision repository.Revision, published bool, archive bundle.Archive) error {
	if p.app.json {
		out := publication{
			Published: published, Channel: revision.Channel, Revision: revision.Name, Sequence: revision.Sequence, Digest: revision.Digest,
			Files: len(archive.Files), PackedBytes: revision.Length, Created: revision.Created.UTC(), Message: revision.Note.Message, Source: revision.Note.Source,
		}
		for _, file := range archive.Files {
			out.UnpackedBytes += file.Size
		}
		return p.app.printJSON(out)
	}
	if !published {
		p.app.printf("Nothing to publish: channel %s is at revision %s with the same content, published %s.\n", revision.Channel, revision.Name, age(revision.Created, time.Now()))
		return nil
	}
	p.app.printf("Published revision %s on channel %s.\n", revision.Name, revision.Channel)
	return nil
}

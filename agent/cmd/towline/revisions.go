package main

import (
	"context"
	"flag"
	"strconv"
	"time"

	"github.com/towline/terraform-provider-towline/internal/repository"
)

func (a *app) revisionsCommand() *command {
	flags := flag.NewFlagSet("revisions", flag.ContinueOnError)
	at := a.accessFlags(flags)
	channel := flags.String("channel", "", "`NAME` of the channel")
	a.jsonFlag(flags)
	return &command{
		synopsis: "List a channel's revisions", usage: "-channel NAME [options]", flags: flags,
		long: `The current revision stands first.

JSON: a list of revision, sequence, digest, packed_bytes, created, current,
message, source.`,
		run: a.verb(func(ctx context.Context, args []string) (int, error) {
			if err := noArguments(args, "revisions"); err != nil {
				return exitFailed, err
			}
			if *channel == "" {
				return exitFailed, mistake("Channel is missing", "Give -channel NAME.")
			}
			r, err := at.read(ctx)
			if err != nil {
				return exitFailed, err
			}
			list, err := r.Revisions(ctx, *channel)
			if err != nil {
				return exitFailed, err
			}
			return exitOK, a.printRevisions(*channel, list)
		}),
	}
}

// revisionResult is a revision in JSON.
type revisionResult struct {
	Revision    string    `json:"revision"`
	Sequence    int64     `json:"sequence"`
	Digest      string    `json:"digest"`
	PackedBytes int64     `json:"packed_bytes"`
	Created     time.Time `json:"created"`
	Current     bool      `json:"current"`
	Message     string    `json:"message,omitempty"`
	Source      string    `json:"source,omitempty"`
}

func (a *app) printRevisions(channel string, list []repository.Revision) error {
	if a.json {
		out := make([]revisionResult, len(list))
		for i, r := range list {
			out[i] = revisionResult{r.Name, r.Sequence, r.Digest, r.Length, r.Created.UTC(), i == 0, r.Note.Message, r.Note.Source}
		}
		return a.printJSON(out)
	}
	if len(list) == 0 {
		a.note("Channel %s has no revision yet; \"towline publish\" makes the first.", channel)
		return nil
	}
	rows := make([][]string, len(list))
	for i, r := range list {
		current := ""
		if i == 0 {
			current = "current"
		}
		rows[i] = []string{strconv.FormatInt(r.Sequence, 10), short(r.Digest), age(r.Created, time.Now()), size(r.Length), current, r.Note.Source, r.Note.Message}
	}
	a.table([]string{"SEQUENCE", "DIGEST", "PUBLISHED", "SIZE", "STATE", "SOURCE", "MESSAGE"}, rows)
	return nil
}

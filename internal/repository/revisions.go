package repository

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/trust"
)

// keptRevisions is how many revisions a channel lists; older ones are forgotten.
const keptRevisions = 100

const (
	archiveSuffix = ".tar.zst"
	maxNote       = 500
)

// Revision is one entry of a channel. The entry with the highest sequence is the
// current one. Going back is publishing the older content again, as a new entry:
// equal content has an equal digest.
type Revision struct {
	Channel string
	// Name is SEQUENCE-DIGEST, with the digest's first twelve digits.
	Name     string
	Sequence int64
	// Digest is the SHA-256 of the archive, in hex. It identifies the content.
	Digest  string
	Length  int64
	Created time.Time
	Note    Note

	target trust.Target
}

// Note is what a publisher says about a revision. It is signed with it.
type Note struct {
	Message string `json:"message,omitempty"`
	// Source says where the content comes from, such as a commit.
	Source string `json:"source,omitempty"`
}

// revisionCustom is the part of a revision that lies in the signed metadata.
type revisionCustom struct {
	Sequence int64     `json:"sequence"`
	Created  time.Time `json:"created"`
	Note
}

// Publish makes content the channel's current revision. If it is already, nothing
// is written and published is false.
func (r *Repository) Publish(ctx context.Context, s trust.Signing, channel string, content []byte, note Note) (revision Revision, published bool, err error) {
	if err := checkRevision(content, note); err != nil {
		return Revision{}, false, fmt.Errorf("publish to channel %s: %w", channel, err)
	}
	role := trust.ChannelRole(channel)
	published, err = r.transact(ctx, s, func(view *view) (*change, error) {
		list, err := view.revisions(ctx, channel)
		if err != nil {
			return nil, err
		}
		if len(list) > 0 && list[0].Digest == trust.Digest(content) {
			revision = list[0]
			return nil, nil
		}
		if err := mayPublish(view, s, role); err != nil {
			return nil, err
		}
		if revision, err = nextRevision(channel, list, content, note, s.Now); err != nil {
			return nil, err
		}
		if err := r.putContent(ctx, revision.target.TargetInfo, content); err != nil {
			return nil, err
		}
		targets := []trust.TargetInfo{revision.target.TargetInfo}
		for _, old := range list[:min(len(list), keptRevisions-1)] {
			targets = append(targets, old.target.TargetInfo)
		}
		return &change{top: view.v.Top(), roles: map[string][]trust.TargetInfo{role: targets}}, nil
	})
	if err != nil {
		return Revision{}, false, fmt.Errorf("publish to channel %s: %w", channel, err)
	}
	return revision, published, nil
}

func checkRevision(content []byte, note Note) error {
	switch {
	case len(content) == 0:
		return fmt.Errorf("the archive is empty")
	case len(content) > MaxRevision:
		return fmt.Errorf("the archive has %d bytes, more than %d", len(content), MaxRevision)
	case len(note.Message) > maxNote || len(note.Source) > maxNote:
		return fmt.Errorf("the message and the source may have at most %d characters", maxNote)
	}
	return nil
}

func nextRevision(channel string, list []Revision, content []byte, note Note, now time.Time) (Revision, error) {
	sequence := int64(1)
	if len(list) > 0 {
		sequence = list[0].Sequence + 1
	}
	digest := trust.Digest(content)
	name := fmt.Sprintf("%06d-%s", sequence, digest[:12])
	created := now.UTC().Truncate(time.Second)
	custom, err := json.Marshal(revisionCustom{sequence, created, note})
	if err != nil {
		return Revision{}, err
	}
	info := trust.Describe("channels/"+channel+"/"+name+archiveSuffix, content, custom)
	return Revision{
		Channel: channel, Name: name, Sequence: sequence, Digest: digest, Length: info.Length,
		Created: created, Note: note, target: trust.Target{TargetInfo: info},
	}, nil
}

// Revisions reads what a channel lists, the current revision first.
func (r *Repository) Revisions(ctx context.Context, channel string) ([]Revision, error) {
	view, err := r.load(ctx)
	if err != nil {
		return nil, fmt.Errorf("list revisions: %w", err)
	}
	list, err := view.revisions(ctx, channel)
	if err != nil {
		return nil, fmt.Errorf("list revisions: %w", err)
	}
	return list, nil
}

// Content reads the archive of a revision from [Repository.Revisions].
func (r *Repository) Content(ctx context.Context, revision Revision) (trust.Verified, error) {
	if revision.Length > MaxRevision {
		return trust.Verified{}, fmt.Errorf("read revision %s: it has %d bytes, more than %d", revision.Name, revision.Length, MaxRevision)
	}
	return fetchTarget(ctx, r.store, revision.target)
}

func (w *view) revisions(ctx context.Context, channel string) ([]Revision, error) {
	targets, err := w.list(ctx, trust.ChannelRole(channel))
	if err != nil {
		return nil, err
	}
	return revisionsOf(channel, targets)
}

// revisionsOf reads a channel's verified list, newest first.
func revisionsOf(channel string, targets []trust.Target) ([]Revision, error) {
	list := make([]Revision, 0, len(targets))
	for _, target := range targets {
		revision, err := revisionOf(channel, target)
		if err != nil {
			return nil, err
		}
		list = append(list, revision)
	}
	slices.SortFunc(list, func(a, b Revision) int { return int(min(1, max(-1, b.Sequence-a.Sequence))) })
	for i := 1; i < len(list); i++ {
		if list[i].Sequence == list[i-1].Sequence {
			return nil, fmt.Errorf("channel %s: %w: two revisions have sequence %d", channel, trust.ErrMalformed, list[i].Sequence)
		}
	}
	return list, nil
}

func revisionOf(channel string, target trust.Target) (Revision, error) {
	var custom revisionCustom
	name, ok := strings.CutSuffix(strings.TrimPrefix(target.Name, "channels/"+channel+"/"), archiveSuffix)
	err := json.Unmarshal(target.Custom, &custom)
	if !ok || err != nil || custom.Sequence < 1 || target.Length < 1 || target.Length > MaxRevision {
		return Revision{}, fmt.Errorf("target %q: %w: it describes no revision", target.Name, trust.ErrMalformed)
	}
	if key := control.ContentKey(target.Name, target.SHA256); len(key) > 500 {
		return Revision{}, fmt.Errorf("target %q: %w: its name is too long", target.Name, trust.ErrMalformed)
	}
	return Revision{
		Channel: channel, Name: name, Sequence: custom.Sequence, Digest: target.SHA256, Length: target.Length,
		Created: custom.Created, Note: custom.Note, target: target,
	}, nil
}

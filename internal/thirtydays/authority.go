package thirtydays

import (
	"context"
	"fmt"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/repository"
	"github.com/towline/terraform-provider-towline/internal/simcloud/client"
	"github.com/towline/terraform-provider-towline/internal/simcloud/cloudapi"
)

// Authority is what one writer may do, and so whoever takes it over.
type Authority struct {
	Writer string
	// Entries are what authorises it: entries of scopes, or environments that let a
	// pipeline in.
	Entries int
	// Objects are those that it keeps and can write.
	Objects int
	// Exposed are the control planes that it must reach from outside their environment.
	Exposed int
}

// agentsAuthority reads what each agent may do from its scopes and its own report, and
// compares that with what the cloud lets its token reach.
func (s *site) agentsAuthority(ctx context.Context) ([]Authority, error) {
	var out []Authority
	for _, environment := range Environments {
		doc := s.declared[environment]
		state, err := s.repo.Environment(ctx, environment)
		if err != nil {
			return nil, err
		}
		reports, err := repository.OpenReports(ctx, s.store, doc)
		if err != nil {
			return nil, err
		}
		beat, err := reports.Heartbeat(ctx)
		if err != nil {
			return nil, err
		}
		a := Authority{Writer: doc.Name, Objects: beat.Objects}
		for _, name := range doc.Scopes {
			a.Entries += len(state.Scopes[name].Include)
		}
		inside, err := s.reach(ctx, doc.Name)
		if err != nil {
			return nil, err
		}
		if inside[environment] != a.Objects || len(inside) != 1 {
			return nil, fmt.Errorf("%s says that it keeps %d objects, and the cloud lets it write %v", doc.Name, a.Objects, inside)
		}
		out = append(out, a)
	}
	return out, nil
}

// pipelineAuthority is the same for the pipeline, which keeps what its states record.
func (s *site) pipelineAuthority(ctx context.Context, deployments [][]*deployment) ([]Authority, error) {
	a := Authority{Writer: pipelineName}
	for _, service := range deployments {
		for _, d := range service {
			a.Objects += d.state.Count()
		}
	}
	reached, err := s.reach(ctx, pipelineName)
	if err != nil {
		return nil, err
	}
	total := 0
	for _, objects := range reached {
		total += objects
	}
	if total != a.Objects {
		return nil, fmt.Errorf("the pipeline keeps %d objects, and the cloud lets it write %v", a.Objects, reached)
	}
	a.Entries, a.Exposed = len(reached), len(reached)
	return []Authority{a}, nil
}

// reach counts, by environment, the objects that a token can write, without those that
// nobody manages.
func (s *site) reach(ctx context.Context, token string) (map[string]int, error) {
	holder, err := client.New(client.Config{Endpoint: s.endpoint, Token: token})
	if err != nil {
		return nil, err
	}
	objects, err := holder.List(ctx, cloudapi.Ref{})
	if err != nil {
		return nil, fmt.Errorf("list what a token reaches: %w", err)
	}
	out := map[string]int{}
	for _, object := range objects {
		if object.Name != unmanagedName {
			out[object.Environment]++
		}
	}
	return out, nil
}

// AuthorityTable writes what writers may do, the same ones once.
func AuthorityTable(rows []Row) string {
	var out strings.Builder
	out.WriteString("| writer | authorised entries | objects writable if compromised | exposed control planes |\n|---|---|---|---|\n")
	seen := map[Authority]bool{}
	for _, r := range rows {
		for _, a := range r.Authority {
			if !seen[a] {
				seen[a] = true
				fmt.Fprintf(&out, "| %s | %d | %d | %d |\n", a.Writer, a.Entries, a.Objects, a.Exposed)
			}
		}
	}
	return out.String()
}

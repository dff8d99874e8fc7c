package demo

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"time"

	"github.com/towline/terraform-provider-towline/internal/simcloud/client"
	"github.com/towline/terraform-provider-towline/internal/simcloud/cloudapi"
)

// Tokens of the simulated cloud. The agent's is on the agent's machine only.
const (
	agentToken = "inside-token-of-the-agent"
	handToken  = "token-of-a-person-on-call"
)

// simcloud is the simulated cloud, a server of its own.
type simcloud struct {
	// latency is how long every request takes.
	latency time.Duration
	// flags are further flags of the server.
	flags []string

	url    string
	server *process
	// hand is somebody who changes things behind the agent's back.
	hand *client.Client
}

func (s *simcloud) start(ctx context.Context, w *World) error {
	listen := net.JoinHostPort(w.opts.Host, "0")
	args := []string{"-listen", listen, "-latency", s.latency.String(), "-token", agentToken + "=" + environment + "/*", "-token", handToken + "=" + environment + "/*"}
	cmd := exec.Command(w.opts.Programs.path(simcloudProgram), append(args, s.flags...)...)
	cmd.Env = w.environ()
	var err error
	if s.server, s.url, err = launch(ctx, "simcloud", cmd, w.path("logs", "simcloud.log"), true); err != nil {
		return err
	}
	s.hand, err = client.New(client.Config{Endpoint: s.url, Token: handToken, Actor: "by-hand"})
	return err
}

func (s *simcloud) stop() {
	if s.server != nil {
		s.server.stop()
	}
}

func (s *simcloud) environ() []string {
	return []string{"SIMCLOUD_ENDPOINT=" + s.url, "SIMCLOUD_TOKEN=" + agentToken, "SIMCLOUD_ACTOR=towline"}
}

// objects are all objects of the environment by reference.
func (s *simcloud) objects(ctx context.Context) (map[cloudapi.Ref]*cloudapi.Object, error) {
	list, err := s.hand.List(ctx, cloudapi.Ref{Environment: environment})
	if err != nil {
		return nil, fmt.Errorf("list objects: %w", err)
	}
	out := make(map[cloudapi.Ref]*cloudapi.Object, len(list))
	for _, object := range list {
		out[object.Ref] = object
	}
	return out, nil
}

// creations counts how often each object was created, by the cloud's own log.
func (s *simcloud) creations(ctx context.Context) (map[cloudapi.Ref]int, error) {
	list, err := s.hand.Events(ctx, 0, cloudapi.MaxPage)
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	out := map[cloudapi.Ref]int{}
	for _, event := range list.Events {
		if event.Action == cloudapi.ActionCreate {
			out[event.Ref]++
		}
	}
	return out, nil
}

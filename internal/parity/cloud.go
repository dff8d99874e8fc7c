package parity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/towline/terraform-provider-towline/internal/simcloud"
	"github.com/towline/terraform-provider-towline/internal/simcloud/client"
	"github.com/towline/terraform-provider-towline/internal/simcloud/cloudapi"
)

// cloud is what real objects of one side are in.
type cloud interface {
	// environ is how the provider finds the cloud.
	environ() map[string]string
	// hand changes an object as a person would who does not use the program.
	hand(ctx context.Context, s *side, args []string) error
	close() error
}

// startCloud starts the cloud that a case names.
func (b *Bench) startCloud(ctx context.Context, program string, c Case) (cloud, error) {
	switch name := c.cloud(); name {
	case "":
		return nil, nil
	case "simcloud":
		return newSimulated()
	case "aws":
		m, err := b.mocks.of(ctx, program)
		if err != nil {
			return nil, err
		}
		return newAccount(m, c.Name), nil
	default:
		return nil, fmt.Errorf("there is no cloud %q", name)
	}
}

// simulated is a simulated cloud whose clock stands still.
type simulated struct {
	cloud  *simcloud.Cloud
	server *httptest.Server
	client *client.Client
	faults faults
}

func newSimulated() (*simulated, error) {
	began := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
	running, err := simcloud.New(simcloud.Options{Now: func() time.Time { return began }})
	if err != nil {
		return nil, fmt.Errorf("start a simulated cloud: %w", err)
	}
	s := &simulated{cloud: running}
	s.server = httptest.NewServer(s.faults.wrap(running))
	if s.client, err = client.New(client.Config{Endpoint: s.server.URL, Actor: "hand"}); err != nil {
		return nil, fmt.Errorf("reach the simulated cloud: %w", err)
	}
	return s, nil
}

func (s *simulated) environ() map[string]string {
	return map[string]string{"SIMCLOUD_ENDPOINT": s.server.URL}
}

func (s *simulated) close() error {
	s.server.Close()
	return s.cloud.Close()
}

// hand carries out one of:
//
//	patch ENVIRONMENT/SERVICE/KIND/NAME JSON     change attributes
//	create ENVIRONMENT/SERVICE/KIND/NAME JSON    make an object
//	delete ENVIRONMENT/SERVICE/KIND/NAME         remove it
//	fail METHOD PATH-PART [COUNT]                answer 500 to such requests, always or so often
//	lose METHOD PATH-PART                        carry such requests out and then answer 500
//	heal                                         end all failures
func (s *simulated) hand(ctx context.Context, _ *side, args []string) error {
	if len(args) == 0 {
		return errors.New("hand needs to know what to do")
	}
	switch args[0] {
	case "fail", "lose":
		return s.faults.add(args)
	case "heal":
		s.faults.heal()
		return nil
	}
	if len(args) < 2 {
		return errors.New("hand needs an object")
	}
	parts := strings.Split(args[1], "/")
	if len(parts) != 4 {
		return fmt.Errorf("%q is not ENVIRONMENT/SERVICE/KIND/NAME", args[1])
	}
	ref := cloudapi.Ref{Environment: parts[0], Service: parts[1], Kind: parts[2], Name: parts[3]}
	var attributes map[string]any
	if len(args) == 3 {
		if err := json.Unmarshal([]byte(args[2]), &attributes); err != nil {
			return fmt.Errorf("read attributes: %w", err)
		}
	}
	var err error
	switch args[0] {
	case "patch":
		_, err = s.client.Patch(ctx, ref, attributes)
	case "create":
		_, err = s.client.Create(ctx, ref, attributes)
	case "delete":
		err = s.client.Delete(ctx, ref)
	default:
		err = fmt.Errorf("hand cannot %s", args[0])
	}
	return err
}

// faults are the requests that a cloud answers with an error.
type faults struct {
	mu    sync.Mutex
	rules []*fault
}

// fault is one kind of request that fails.
type fault struct {
	method, part string
	// left is how many more fail, less than zero for all.
	left int
	// late lets the request have its effect first.
	late bool
}

func (f *faults) add(args []string) error {
	if len(args) < 3 {
		return fmt.Errorf("%s takes a method and a part of a path", args[0])
	}
	rule := &fault{method: args[1], part: args[2], left: -1, late: args[0] == "lose"}
	if len(args) > 3 {
		var err error
		if rule.left, err = strconv.Atoi(args[3]); err != nil {
			return fmt.Errorf("read a count: %w", err)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = append(f.rules, rule)
	return nil
}

func (f *faults) heal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = nil
}

// hit returns the fault that a request meets, or nil.
func (f *faults) hit(r *http.Request) *fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, rule := range f.rules {
		if rule.left != 0 && rule.method == r.Method && strings.Contains(r.URL.Path, rule.part) {
			rule.left--
			return rule
		}
	}
	return nil
}

func (f *faults) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rule := f.hit(r)
		if rule == nil {
			next.ServeHTTP(w, r)
			return
		}
		if rule.late {
			next.ServeHTTP(httptest.NewRecorder(), r)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = w.Write([]byte(`{"message":"the cloud failed, as it was told to"}`)) // a caller that has gone cannot be told so
	})
}

package demo

import (
	"context"
	"errors"
	"fmt"

	"github.com/towline/terraform-provider-towline/internal/simcloud/client"
	"github.com/towline/terraform-provider-towline/internal/simcloud/cloudapi"
)

func (s *simcloud) introduce() string { return "simcloud at " + s.url + ", simulated" }

func (s *simcloud) example() string { return "quickstart" }

func (s *simcloud) check(ctx context.Context, made int) (string, error) {
	objects, err := s.objects(ctx)
	if err == nil && (len(objects) != made || made == 0) {
		err = fmt.Errorf("a round has made %d objects, and %d are there", made, len(objects))
	}
	return fmt.Sprintf("%d objects are there", len(objects)), err
}

func ref(service, kind, name string) cloudapi.Ref {
	return cloudapi.Ref{Environment: environment, Service: service, Kind: kind, Name: name}
}

func (s *simcloud) edits() []edit {
	return []edit{
		s.patch("the verifier gets 5 replicas instead of 2; the configuration sets them",
			`module.workload["verifier"].simcloud_deployment.this`, ref("verifier", "deployment", "verifier"), "replicas", 5),
		s.patch("idle connections to the collector end after 5 s; the configuration does not say",
			`module.workload["collector"].simcloud_service.this`, ref("collector", "service", "collector"), "idle_timeout_seconds", 5),
		s.remove("the rule that keeps everybody out of billing is deleted",
			`simcloud_network_rule.deny["billing"]`, ref("billing", "network_rule", "deny-all")),
	}
}

func (s *simcloud) emergency() edit {
	return s.patch("the collector gets 12 replicas in an incident",
		`module.workload["collector"].simcloud_deployment.this`, ref("collector", "deployment", "collector"), "replicas", 12)
}

// patch is an edit of one attribute.
func (s *simcloud) patch(what, address string, object cloudapi.Ref, attribute string, value any) edit {
	return edit{
		what: what, address: address,
		make: func(ctx context.Context) error {
			_, err := s.hand.Patch(ctx, object, map[string]any{attribute: value})
			return err
		},
		stands: func(ctx context.Context) (bool, error) {
			now, err := s.hand.Get(ctx, object)
			if err != nil {
				return false, err
			}
			return fmt.Sprint(now.Attributes[attribute]) == fmt.Sprint(value), nil
		},
	}
}

// remove is the deletion of an object.
func (s *simcloud) remove(what, address string, object cloudapi.Ref) edit {
	return edit{
		what: what, address: address,
		make: func(ctx context.Context) error { return s.hand.Delete(ctx, object) },
		stands: func(ctx context.Context) (bool, error) {
			_, err := s.hand.Get(ctx, object)
			if errors.Is(err, client.ErrNotFound) {
				return true, nil
			}
			return false, err
		},
	}
}

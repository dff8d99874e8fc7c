package thirtydays

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/engine"
	"github.com/towline/terraform-provider-towline/internal/guard"
	"github.com/towline/terraform-provider-towline/internal/journal"
	"github.com/towline/terraform-provider-towline/internal/plans"
	"github.com/towline/terraform-provider-towline/internal/plugin"
	"github.com/towline/terraform-provider-towline/internal/states"
)

// pipelineName is the pipeline in the cloud's log. It may write everywhere.
const pipelineName = "pipeline"

// pipelineRun is how long the pipeline takes from a commit until it deploys.
const pipelineRun = 3 * time.Minute

// deployment is what the pipeline keeps of one service in one environment.
type deployment struct {
	config  *configs.Config
	options engine.PlanOptions
	state   *states.State
}

// push is the replay with a pipeline, which applies the configuration of a service
// whenever that is deployed, and at no other time.
func (s *site) push(ctx context.Context, changes []change) (row Row, err error) {
	locator, quick, err := s.provider()
	if err != nil {
		return Row{}, err
	}
	pool := plugin.NewPool(locator, plugin.Options{})
	pipeline := engine.New(engine.Options{Providers: source{pool, quick}, Now: s.clock.read})
	defer func() { err = errors.Join(err, pipeline.Close(), pool.Close()) }()
	deployments, err := s.deployments()
	if err != nil {
		return Row{}, err
	}
	hands := &people{site: s, before: map[int]any{}}
	missed, todo := 0, steps(changes)
	for m := 0; m <= Minutes; m++ {
		for i := range Services {
			switch {
			case m%deployEvery[i] != 0:
			case m >= outageFrom && m < outageUntil:
				missed++
			default:
				s.clock.set(minute(m))
				if err := deploy(ctx, pipeline, deployments[i]); err != nil {
					return Row{}, fmt.Errorf("deploy %s in minute %d: %w", Services[i], m, err)
				}
			}
		}
		for ; len(todo) > 0 && todo[0].minute == m; todo = todo[1:] {
			s.clock.set(minute(m).Add(time.Second))
			if err := hands.do(ctx, todo[0]); err != nil {
				return Row{}, err
			}
		}
	}
	if row, err = s.figures(ctx, changes, Arrangement{}); err != nil {
		return Row{}, err
	}
	row.Outage.Missed, row.Live = missed, pipelineRun.Minutes()
	row.Authority, err = s.pipelineAuthority(ctx, deployments)
	return row, err
}

// deployments prepares what the pipeline deploys, by service and environment.
func (s *site) deployments() ([][]*deployment, error) {
	out := make([][]*deployment, len(Services))
	for i, service := range Services {
		for _, environment := range Environments {
			dir, err := s.revision(environment, fmt.Sprintf("services = [%q]\n", service))
			if err != nil {
				return nil, err
			}
			config, diags := configs.Load(dir)
			if diags.HasErrors() {
				return nil, diags.Err()
			}
			variables, diags := configs.CollectVariables(config.Module, configs.VariableSources{Dir: dir, Environ: s.variables(pipelineName)})
			if diags.HasErrors() {
				return nil, diags.Err()
			}
			out[i] = append(out[i], &deployment{config, engine.PlanOptions{Mode: plans.NormalMode, Variables: variables, BaseDir: dir}, states.New()})
		}
	}
	return out, nil
}

// deploy plans and applies a service in all environments, as a pipeline does: what it
// finds changed is overwritten where the configuration says something else.
func deploy(ctx context.Context, pipeline *engine.Engine, environments []*deployment) error {
	for _, d := range environments {
		plan, diags := pipeline.Plan(ctx, d.config, d.state, d.options)
		if diags.HasErrors() {
			return diags.Err()
		}
		if !plan.Applyable() {
			d.state = plan.Prior
			continue
		}
		state, diags := pipeline.Apply(ctx, d.config, guard.Unrestricted(plan), engine.ApplyOptions{Recorder: forgetful{}, BaseDir: d.options.BaseDir})
		if diags.HasErrors() {
			return diags.Err()
		}
		d.state = state
	}
	return nil
}

// forgetful records nothing: a pipeline that dies leaves what it has made.
type forgetful struct{}

// Begin implements [engine.Recorder].
func (forgetful) Begin(journal.Intent) (uint64, error) { return 0, nil }

// End implements [engine.Recorder].
func (forgetful) End(journal.Result) error { return nil }

package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/procfs"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/demo"
)

const (
	// restCPU and restMemory are what an agent between rounds may take: percent of
	// one core, and bytes.
	restCPU    = 1
	restMemory = 300e6
	// settleTime is how long after a round's receipt the watch begins: the round's
	// last words are not rest.
	settleTime = 2 * time.Second
	// spare is how much longer the time between rounds is than the watch and what
	// that time varies by, which is a tenth.
	spare = 5 * time.Second
)

// rest is row 9: the real agent between two rounds, with a revision that needs no
// provider process, so that all memory is its own.
func (b *bench) rest(ctx context.Context) ([]Figure, error) {
	n := b.size(10000)
	poll := b.opts.Window + b.opts.Window/5 + spare
	w, err := b.world(ctx, "rest", func(string) (demo.Stage, demo.Options, error) {
		stage, opts := demo.Simcloud()
		opts.Poll = poll
		return stage, opts, nil
	})
	if err != nil {
		return nil, err
	}
	if err := b.startAgent(ctx, w, layers.source(n)); err != nil {
		return nil, err
	}
	defer w.StopAgent()
	if err := b.secondRound(ctx, w, poll); err != nil {
		return nil, err
	}
	seen, err := b.watch(ctx, w)
	if err != nil {
		return nil, err
	}
	work := fmt.Sprintf("agent with %d resources, ", layers.expected(n))
	return []Figure{
		{Work: fmt.Sprintf("%s%s between rounds, of one core", work, b.opts.Window), Unit: Percent, Towline: Sample{seen.cpu}, Target: Below(restCPU)},
		{Work: work + "resident between rounds", Unit: Bytes, Towline: Sample{seen.resident}, Target: Below(restMemory)},
		{Work: work + "peak resident since its start", Unit: Bytes, Towline: Sample{seen.peak}},
	}, nil
}

// startAgent enrols an environment, publishes a revision and starts its agent.
func (b *bench) startAgent(ctx context.Context, w *demo.World, source string) error {
	if _, err := w.Enrol(ctx); err != nil {
		return err
	}
	dir := filepath.Join(b.opts.Dir, "worlds", "rest", "revision")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(source), 0o600); err != nil {
		return fmt.Errorf("write a configuration: %w", err)
	}
	if _, err := w.Publish(ctx, "revision", "measured"); err != nil {
		return err
	}
	return w.StartAgent(ctx)
}

// secondRound waits for a round without changes after the one that made everything.
func (b *bench) secondRound(ctx context.Context, w *demo.World, poll time.Duration) error {
	first, err := w.Await(ctx, 0, "the agent has made everything", func(r control.Receipt) bool { return r.Outcome == control.OutcomeApplied })
	if err != nil {
		return err
	}
	if err := pause(ctx, poll/2); err != nil { // its patience is shorter than the time between rounds may be
		return err
	}
	_, err = w.Await(ctx, first.Sequence, "the agent has found nothing to do", func(r control.Receipt) bool { return r.Outcome == control.OutcomeConverged })
	return err
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// atRest is what the kernel says of a process.
type atRest struct{ cpu, resident, peak float64 }

// watch accounts for the agent over the window, and makes sure that no round
// fell into it.
func (b *bench) watch(ctx context.Context, w *demo.World) (atRest, error) {
	if err := pause(ctx, settleTime); err != nil {
		return atRest{}, err
	}
	before, err := w.Newest(ctx)
	if err != nil {
		return atRest{}, err
	}
	cpuBefore, _, err := account(w.AgentPID())
	if err != nil {
		return atRest{}, err
	}
	if err := pause(ctx, b.opts.Window); err != nil {
		return atRest{}, err
	}
	cpuAfter, status, err := account(w.AgentPID())
	if err != nil {
		return atRest{}, err
	}
	after, err := w.Newest(ctx)
	if err == nil && after != before {
		err = errors.New("a round fell into the time in which there was to be none")
	}
	return atRest{100 * (cpuAfter - cpuBefore) / b.opts.Window.Seconds(), float64(status.VmRSS), float64(status.VmHWM)}, err
}

// account returns the CPU seconds of a process so far, and its memory.
func account(pid int) (cpu float64, status procfs.ProcStatus, err error) {
	proc, err := procfs.NewProc(pid)
	if err != nil {
		return 0, status, fmt.Errorf("look at the agent's process: %w", err)
	}
	stat, err := proc.Stat()
	if err != nil {
		return 0, status, fmt.Errorf("look at the agent's process: %w", err)
	}
	if status, err = proc.NewStatus(); err != nil {
		return 0, status, fmt.Errorf("look at the agent's process: %w", err)
	}
	return stat.CPUTime(), status, nil
}

package chaos

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/demo"
)

// member is one agent of a site, on a machine of its own: a data folder, a way to
// the store and a way to the cloud that can be cut.
type member struct {
	site     *site
	name     string
	dir      string
	declared control.Agent
	// store and cloud are its ways to them.
	store, cloud *relay
	// clock is its machine's.
	clock *clock

	mu sync.Mutex
	// words are when it has given words, of the last minute or so.
	words []time.Time

	// watchers wait for a moment at which something happens to the agent.
	watchers sync.WaitGroup

	cmd *exec.Cmd
	// ended is closed when the process is gone.
	ended chan struct{}
	// crashes counts how often its providers were ended.
	crashes int
}

func (m *member) dataDir() string { return filepath.Join(m.dir, "data") }

// start starts the agent's process unless it runs.
func (m *member) start() error {
	if m.running() {
		return nil
	}
	log, err := os.OpenFile(filepath.Join(m.dir, "agent.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("start %s: %w", m.name, err)
	}
	defer log.Close() // the process has its own handle
	cmd := exec.Command(m.site.opts.Programs.Towline(), "agent", "run", "-config", filepath.Join(m.dir, "agent.hcl"))
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = m.dir, m.environ(), log, log
	cmd.SysProcAttr = demo.OwnGroup()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", m.name, err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // how it ends is the fault's business
		close(ended)
	}()
	m.cmd, m.ended, m.crashes = cmd, ended, 0
	return nil
}

// environ is what the agent's machine has.
func (m *member) environ() []string {
	out := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + m.dir, "TMPDIR=" + os.TempDir(), "TF_CLI_CONFIG_FILE=" + m.site.opts.cliConfig(),
		"SIMCLOUD_ENDPOINT=" + m.cloud.url, "SIMCLOUD_ACTOR=" + m.name, clockVariable + "=" + m.clock.file.Name()}
	for name, value := range m.site.opts.s3.Env() {
		if name != "AWS_ENDPOINT_URL_S3" {
			out = append(out, name+"="+value)
		}
	}
	return out
}

func (m *member) running() bool {
	if m.cmd == nil {
		return false
	}
	select {
	case <-m.ended:
		return false
	default:
		return true
	}
}

// kill ends the agent and its providers at once, as a machine that fails does.
func (m *member) kill() {
	if m.cmd != nil {
		_ = syscall.Kill(-m.cmd.Process.Pid, syscall.SIGKILL) // it may be gone
		<-m.ended
	}
}

// killAlone ends the agent's process; its providers go on with what they were asked to do.
func (m *member) killAlone() {
	_ = m.cmd.Process.Kill() // it may be gone
	<-m.ended
}

// signal sends a signal to the agent's process alone.
func (m *member) signal(s syscall.Signal) { _ = m.cmd.Process.Signal(s) }

// signalProviders sends a signal to the processes that the agent has started.
func (m *member) signalProviders(s syscall.Signal) error {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", m.cmd.Process.Pid))
	if err != nil {
		return err
	}
	var errs []error
	for _, file := range files {
		list, err := os.ReadFile(file)
		if err != nil {
			continue // the thread has ended
		}
		for _, text := range strings.Fields(string(list)) {
			pid, err := strconv.Atoi(text)
			if err == nil {
				err = syscall.Kill(pid, s)
			}
			if err != nil && !errors.Is(err, syscall.ESRCH) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// mostCrashes is how often an agent has a provider crash within some minutes before it
// starts it no more, which is as it should be and no matter of this harness.
const mostCrashes = 3

// endProviders ends the agent's providers at once.
func (m *member) endProviders() {
	m.crashes++
	_ = m.signalProviders(syscall.SIGKILL) // they may be gone
}

// recovered starts the agent if it was ended, and anew if its providers have crashed
// as often as it puts up with.
func (m *member) recovered() error {
	if m.crashes >= mostCrashes {
		m.kill()
	}
	return m.start()
}

func (m *member) journal() string { return filepath.Join(m.dataDir(), "state.json.journal") }

// journalled counts the entries in the agent's journal.
func (m *member) journalled() int {
	data, err := os.ReadFile(m.journal())
	if err != nil {
		return 0
	}
	return strings.Count(string(data), "\n")
}

// lastWords are the end of the agent's log.
func (m *member) lastWords() string {
	const lines = 30
	all := strings.Split(strings.TrimSpace(m.log()), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// log is all that the agent has logged.
func (m *member) log() string {
	data, err := os.ReadFile(filepath.Join(m.dir, "agent.log"))
	if err != nil {
		return err.Error()
	}
	return string(data)
}

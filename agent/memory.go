package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/guard"
)

// memory is what an agent must remember between rounds and restarts.
type memory struct {
	Channel string `json:"channel"`
	// Shard is the part of the environment whose lease was last held.
	Shard string `json:"shard,omitempty"`
	// Epoch is that of the lease last held.
	Epoch int64 `json:"epoch"`
	// Bound tells that another agent may have taken over: nothing is changed without a tenure.
	Bound bool `json:"bound,omitempty"`
	// Sequence and Previous are of the last receipt.
	Sequence int64  `json:"sequence"`
	Previous string `json:"previous"`
	// Revision was planned without errors last.
	Revision string `json:"revision"`
	// Begun is the revision in force: the one whose changes were begun last, or that asked
	// for none. It is "" after another agent has worked, because what that one began is not known.
	Begun     string    `json:"begun,omitempty"`
	Converged time.Time `json:"converged,omitzero"`
	Serial    uint64    `json:"serial"`
	// States are the digests that the state file may have: one, or two while it is replaced.
	States []string `json:"states,omitempty"`
	// StateEpoch and StateSerial name the state object that is known to be in the store.
	StateEpoch  int64  `json:"state_epoch"`
	StateSerial uint64 `json:"state_serial"`
	// SealedFor identifies those who can open that object; "" of those who did not seal.
	SealedFor string       `json:"sealed_for,omitempty"`
	Drift     guard.Memory `json:"drifted,omitempty"`
	// Unmanaged are the objects that inventories listed last and nobody manages.
	Unmanaged []control.UnmanagedItem `json:"unmanaged,omitempty"`
	// Proposal is the digest of the plan that waits for approval.
	Proposal string `json:"proposal,omitempty"`
	// Spent is the sequence of the receipt that told last of a plan that was carried out by approval.
	Spent int64 `json:"spent,omitempty"`
	// Told is the drift set that people were last told of by webhook.
	Told string `json:"told,omitempty"`
	// Message is the message in Slack about what differs or waits, nil without one.
	Message *channelMessage `json:"message,omitempty"`
	// Occurrence is that of the drift that was judged last.
	Occurrence string `json:"occurrence,omitempty"`
	// Grants are what is remembered of break-glass grants, by ID.
	Grants map[string]seenGrant `json:"grants_seen,omitempty"`
	// Clicked is what people did in Slack about grants that have not ended, as it was read
	// last. It holds without the store.
	Clicked []control.GrantClick `json:"grants_clicked,omitempty"`
	// GrantEnds are ends of grants that people were not told of yet.
	GrantEnds []control.GrantEnd `json:"grant_ends,omitempty"`
}

func memoryPath(dataDir string) string { return filepath.Join(dataDir, "memory.json") }

// loadMemory reads the memory; ok is false if there is none yet.
func loadMemory(dataDir string) (m memory, ok bool, err error) {
	data, err := os.ReadFile(memoryPath(dataDir))
	if errors.Is(err, os.ErrNotExist) {
		return memory{}, false, nil
	}
	if err != nil {
		return memory{}, false, fmt.Errorf("read the agent's memory: %w", err)
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return memory{}, false, fmt.Errorf("read the agent's memory %s: %w. The file is damaged; remove it to have the agent go on from what it has signed in the store", memoryPath(dataDir), err)
	}
	return m, true, nil
}

func (m memory) save(dataDir string) error {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the agent's memory: %w", err)
	}
	return writeFile(memoryPath(dataDir), data)
}

// writeFile replaces a file atomically and durably, readable by its owner only.
func writeFile(path string, data []byte) error {
	dir := filepath.Dir(path)
	tmp, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = tmp.Write(data)
	if err == nil {
		err = tmp.Sync()
	}
	if closeErr := tmp.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(tmp.Name()))
	}
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return errors.Join(d.Sync(), d.Close())
}

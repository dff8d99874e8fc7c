package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/towline/terraform-provider-towline/internal/repository"
)

// ErrNothingVerified: the agent has not verified anything yet that could be gone by.
var ErrNothingVerified = errors.New("the agent on this machine has not verified yet what its environment declares")

// LastDeclared is what the agent of a configuration has verified last of its
// environment. It asks no store and may run beside the agent.
func LastDeclared(ctx context.Context, config Config) (*repository.State, error) {
	remembered, known, err := loadMemory(config.DataDir)
	if err != nil {
		return nil, err
	}
	if !known || remembered.Channel == "" {
		return nil, fmt.Errorf("%w: %s has no memory of a round", ErrNothingVerified, config.DataDir)
	}
	root, err := os.ReadFile(config.TrustedRoot)
	if err != nil {
		return nil, fmt.Errorf("read trusted root: %w", err)
	}
	client, err := repository.NewClient(nil, filepath.Join(config.DataDir, "repository"), root)
	if err != nil {
		return nil, err
	}
	return client.Last(ctx, config.Environment, remembered.Channel)
}

// LastClicked is what the agent of a configuration has read last of what people did in
// Slack about grants that had not ended. It asks no store and may run beside the agent.
func LastClicked(config Config) (repository.GrantFiles, error) {
	remembered, _, err := loadMemory(config.DataDir)
	return repository.ClickedGrants(remembered.Clicked), err
}

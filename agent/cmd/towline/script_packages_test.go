package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/towline/terraform-provider-towline/agent"
	"github.com/towline/terraform-provider-towline/internal/bundle"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/objstore/open"
	"github.com/towline/terraform-provider-towline/internal/repository"
)

// installed DATA: an agent with this data folder unpacks the channel's revision, loads
// its modules and installs its providers, from the store alone.
func installed(ts *testscript.TestScript, neg bool, args []string) {
	err := installRevision(ts, args[0])
	ts.Logf("installation: %v", err)
	if (err != nil) != neg {
		ts.Fatalf("installation fails: %t", err != nil)
	}
}

func installRevision(ts *testscript.TestScript, data string) error {
	ctx := context.Background()
	store, err := open.Open(ctx, ts.Getenv("TOWLINE_REPOSITORY"))
	ts.Check(err)
	repo, err := repository.Open(ctx, store, "")
	ts.Check(err)
	list, err := repo.Revisions(ctx, "stable")
	ts.Check(err)
	content, err := repo.Content(ctx, list[0])
	ts.Check(err)
	ts.Check(os.MkdirAll(data, 0o700))
	dir := filepath.Join(data, "revision")
	ts.Check(bundle.Unpack(content, dir, bundle.DefaultLimits))
	config, diags := configs.Load(dir)
	ts.Check(diags.Err())
	if len(config.Children) != 2 || len(config.Children["git"].Children) != 1 {
		return fmt.Errorf("the revision has %d modules", len(config.Children))
	}
	_, closer, diags := agentProviders(ctx, slog.New(slog.DiscardHandler), repository.Sources{store}, agent.Config{DataDir: data})(dir, config.ProviderRequirements())
	if closer != nil {
		ts.Check(closer.Close())
	}
	return diags.Err()
}

// spoilStore FOLDER: somebody changes every object below a folder of the store, and by
// doing it again changes it back.
func spoilStore(ts *testscript.TestScript, neg bool, args []string) {
	paths, err := filepath.Glob(filepath.Join(ts.MkAbs("store"), args[0], "*"))
	ts.Check(err)
	if neg || len(paths) == 0 {
		ts.Fatalf("nothing to spoil")
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		ts.Check(err)
		data[len(data)/2] ^= 1
		ts.Check(os.WriteFile(path, data, 0o600))
	}
}

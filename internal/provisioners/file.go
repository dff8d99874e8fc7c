package provisioners

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/pkg/sftp"
	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// file brings a file or a folder to another machine.
type file struct{}

func (file) Schema() *providers.Block {
	return optional(map[string]cty.Type{"source": cty.String, "content": cty.String, "destination": cty.String}, "destination")
}

// Validate implements [Provisioner].
func (file) Validate(config cty.Value) tfdiags.Diagnostics {
	source, content := config.GetAttr("source"), config.GetAttr("content")
	switch {
	case !source.IsNull() && !content.IsNull() && source.IsKnown() && content.IsKnown():
		return tfdiags.New(tfdiags.Error, "Cannot set both 'source' and 'content'", "Name a file with source, or give its text with content, but not both.")
	case source.IsNull() && content.IsNull():
		return tfdiags.New(tfdiags.Error, "Must provide one of 'source' or 'content'", "Name a file with source, or give its text with content.")
	default:
		return nil
	}
}

// Run implements [Provisioner].
func (f file) Run(ctx context.Context, req Request) tfdiags.Diagnostics {
	if diags := f.Validate(req.Config); diags.HasErrors() {
		return diags
	}
	const summary = "file provisioner error"
	conn, diags := dial(ctx, req, summary)
	if diags.HasErrors() {
		return diags
	}
	defer conn.close()
	client, err := sftp.NewClient(conn.client)
	if err != nil {
		return failed(summary, fmt.Errorf("begin a file transfer: %w", err))
	}
	defer client.Close() //nolint:errcheck // what was written is closed on its own
	destination := text(req.Config, "destination")
	if content := req.Config.GetAttr("content"); !content.IsNull() {
		return failed(summary, writeFile(client, destination, strings.NewReader(content.AsString()), 0o644))
	}
	return failed(summary, upload(ctx, client, text(req.Config, "source"), destination))
}

// failed is an error as diagnostics, none for nil.
func failed(summary string, err error) tfdiags.Diagnostics {
	if err == nil {
		return nil
	}
	return tfdiags.New(tfdiags.Error, summary, fmt.Sprintf("The work on the other machine has failed: %s.", err))
}

// upload brings a file, or a folder: itself into destination, or only what is in
// it if its name ends with a slash.
func upload(ctx context.Context, client *sftp.Client, source, destination string) error {
	info, err := os.Stat(source)
	if err != nil {
		return fmt.Errorf("find what to upload: %w", err)
	}
	if !info.IsDir() {
		if remote, err := client.Stat(destination); err == nil && remote.IsDir() {
			destination = path.Join(destination, filepath.Base(source))
		}
		return uploadFile(client, source, destination, info.Mode().Perm())
	}
	if !strings.HasSuffix(source, "/") && !strings.HasSuffix(source, string(filepath.Separator)) {
		destination = path.Join(destination, filepath.Base(source))
	}
	return filepath.WalkDir(source, func(local string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		rel, err := filepath.Rel(source, local)
		if err != nil {
			return err
		}
		remote := path.Join(destination, filepath.ToSlash(rel))
		info, err := os.Stat(local) // what a link points to
		switch {
		case err != nil:
			return err
		case info.IsDir() && !entry.IsDir():
			return fmt.Errorf("%s is a link to a folder, and following it could have no end; upload that folder by itself", local)
		case info.IsDir():
			return client.MkdirAll(remote)
		default:
			return uploadFile(client, local, remote, info.Mode().Perm())
		}
	})
}

func uploadFile(client *sftp.Client, source, destination string, mode fs.FileMode) error {
	f, err := os.Open(source)
	if err != nil {
		return fmt.Errorf("open what to upload: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	return writeFile(client, destination, f, mode)
}

func writeFile(client *sftp.Client, destination string, content io.Reader, mode fs.FileMode) (err error) {
	f, err := client.OpenFile(destination, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return fmt.Errorf("create %s there: %w", destination, err)
	}
	defer func() {
		if closeErr := f.Close(); err == nil && closeErr != nil {
			err = fmt.Errorf("write %s there: %w", destination, closeErr)
		}
	}()
	if err := f.Chmod(mode); err != nil {
		return fmt.Errorf("set the mode of %s there: %w", destination, err)
	}
	if _, err := f.ReadFrom(content); err != nil {
		return fmt.Errorf("write %s there: %w", destination, err)
	}
	return nil
}

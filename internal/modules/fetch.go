package modules

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hashicorp/go-getter"

	"github.com/towline/terraform-provider-towline/internal/registry"
)

// Bounds of one package. The largest public modules have a thousand files.
const (
	maxFiles     = 20_000
	maxUnpacked  = 512 << 20
	maxArchive   = 256 << 20
	fetchTimeout = 10 * time.Minute
	maxRelays    = 10
)

// fetcher downloads packages, each once.
type fetcher struct {
	// done are the folders of packages that were fetched in this installation.
	done map[string]string
}

// fetch puts a package into dir, which must not exist. A folder of this machine is linked.
func (f *fetcher) fetch(ctx context.Context, pkg, dir string) error {
	if path, ok := strings.CutPrefix(pkg, "file://"); ok {
		return linkFolder(path, dir)
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), ".fetch-*")
	if err != nil {
		return fmt.Errorf("make room for the module: %w", err)
	}
	defer os.RemoveAll(temp)
	fresh := filepath.Join(temp, "package")
	if before, ok := f.done[pkg]; ok {
		err = os.CopyFS(fresh, os.DirFS(before))
	} else {
		err = download(ctx, pkg, fresh)
	}
	if err == nil {
		err = checkTree(fresh)
	}
	if err != nil {
		return err
	}
	if err := os.Rename(fresh, dir); err != nil {
		return fmt.Errorf("place the module: %w", err)
	}
	f.done[pkg] = dir
	return nil
}

func linkFolder(path, dir string) error {
	path, err := url.PathUnescape(path)
	if err != nil {
		return fmt.Errorf("the path of the folder is malformed: %w", err)
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return fmt.Errorf("there is no folder %s", path)
	}
	return os.Symlink(path, dir)
}

// download lets the library for sources fetch a package.
func download(ctx context.Context, pkg, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	web := &getter.HttpGetter{
		Client: registry.NewHTTPClient(), Netrc: true, DoNotCheckHeadFirst: true, MaxBytes: maxArchive, ReadTimeout: fetchTimeout, XTerraformGetLimit: maxRelays,
	}
	client := &getter.Client{
		Ctx: ctx, Src: pkg, Dst: dir, Pwd: dir, Mode: getter.ClientModeDir, Umask: 0o022,
		Detectors: []getter.Detector{}, Decompressors: getter.LimitedDecompressors(maxFiles, maxUnpacked),
		Getters: map[string]getter.Getter{
			"git": &getter.GitGetter{Timeout: fetchTimeout}, "hg": &getter.HgGetter{Timeout: fetchTimeout},
			"http": web, "https": web, "s3": &getter.S3Getter{Timeout: fetchTimeout}, "gcs": &getter.GCSGetter{Timeout: fetchTimeout},
		},
	}
	err := client.Get()
	if ctx.Err() != nil {
		return fmt.Errorf("download: %w", ctx.Err())
	}
	return err
}

// errLeadsOut says that a package holds a link to somewhere else.
var errLeadsOut = errors.New("it holds a link that leads out of it")

// checkTree holds an unpacked package against the bounds and refuses links that lead
// out of it: its files are read as configuration and by functions.
func checkTree(dir string) error {
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return fmt.Errorf("read the module: %w", err)
	}
	files, size := 0, int64(0)
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("read the module: %w", err)
		}
		if entry.Type()&fs.ModeSymlink != 0 {
			target, err := filepath.EvalSymlinks(path)
			if err == nil && target != root && !strings.HasPrefix(target, root+string(filepath.Separator)) {
				return fmt.Errorf("%w: %s", errLeadsOut, entry.Name())
			}
			return nil // one that leads nowhere harms nobody
		}
		if info, err := entry.Info(); err == nil && entry.Type().IsRegular() {
			files++
			size += info.Size()
		}
		if files > maxFiles || size > maxUnpacked {
			return fmt.Errorf("it has more than %d files or %d bytes", maxFiles, maxUnpacked)
		}
		return nil
	})
}

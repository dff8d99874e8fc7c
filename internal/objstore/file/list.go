package file

import (
	"context"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/objstore"
)

// List implements [objstore.Store]. Objects that come or go meanwhile may be seen or not.
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[objstore.Info, error] {
	return func(yield func(objstore.Info, error) bool) {
		if err := objstore.ValidatePrefix(prefix); err != nil {
			yield(objstore.Info{}, err)
			return
		}
		l := lister{ctx: ctx, fsys: s.root.FS(), prefix: prefix, yield: yield}
		l.walk(path.Dir(prefix + "x"))
	}
}

type lister struct {
	ctx    context.Context
	fsys   fs.FS
	prefix string
	yield  func(objstore.Info, error) bool
}

// walk yields the objects below a folder and tells whether to go on.
func (l lister) walk(folder string) bool {
	entries, err := fs.ReadDir(l.fsys, folder)
	if missing(err) {
		return true
	}
	if err == nil {
		err = l.ctx.Err()
	}
	if err != nil {
		return l.fail(folder, err)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(orderName(a), orderName(b)) })
	for _, entry := range entries {
		if !l.visit(path.Join(folder, entry.Name()), entry) {
			return false
		}
	}
	return true
}

func (l lister) visit(key string, entry fs.DirEntry) bool {
	if strings.HasPrefix(entry.Name(), ".") {
		return true
	}
	if entry.IsDir() {
		folder := key + "/"
		if strings.HasPrefix(folder, l.prefix) || strings.HasPrefix(l.prefix, folder) {
			return l.walk(key)
		}
		return true
	}
	if !strings.HasPrefix(key, l.prefix) || !entry.Type().IsRegular() {
		return true
	}
	info, err := entry.Info()
	if missing(err) {
		return true
	}
	if err != nil {
		return l.fail(key, err)
	}
	return l.yield(objstore.Info{Key: key, Size: info.Size(), Modified: info.ModTime().UTC()}, nil)
}

func (l lister) fail(key string, err error) bool {
	l.yield(objstore.Info{}, wrap("list", key, err))
	return false
}

// orderName sorts folders as their keys do: "a-b" comes before "a/c".
func orderName(entry fs.DirEntry) string {
	if entry.IsDir() {
		return entry.Name() + "/"
	}
	return entry.Name()
}

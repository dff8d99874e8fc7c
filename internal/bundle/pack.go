package bundle

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// File is one file of an archive.
type File struct {
	Path string
	Size int64
}

// Archive is a packed module.
type Archive struct {
	Data []byte
	// Files are what is in it, in order.
	Files []File
}

// Vendored is what travels with a module although it is no file of the user's.
type Vendored struct {
	// Paths are files and folders that are packed although they lie in a hidden
	// folder, such as installed modules. What is hidden inside of them stays.
	Paths []string
	// Files are contents that exist only in the archive, by their paths.
	Files map[string][]byte
}

// keeps tells whether a path is vendored, and leads whether something below it is.
func (v Vendored) keeps(name string) bool {
	return slices.ContainsFunc(v.Paths, func(p string) bool {
		rest, ok := strings.CutPrefix(name, p)
		if !ok || (rest != "" && rest[0] != '/') {
			return false
		}
		return !slices.ContainsFunc(strings.Split(rest, "/"), func(part string) bool { return strings.HasPrefix(part, ".") || forbidden(part) })
	})
}

// beside tells whether a path lies in the same hidden folder as what is vendored.
func (v Vendored) beside(name string) bool {
	top, _, _ := strings.Cut(name, "/")
	return v.leads(top)
}

func (v Vendored) leads(name string) bool {
	return slices.ContainsFunc(v.Paths, func(p string) bool { return strings.HasPrefix(p, name+"/") })
}

// Pack packs the files below a folder. Equal files give equal bytes, as long as
// the compression library stays the same. A link or device among the files is an
// error: what it points to would not travel.
func Pack(dir string, limits Limits) (Archive, error) {
	return PackWith(dir, limits, Vendored{})
}

// PackWith is [Pack] with what is vendored.
func PackWith(dir string, limits Limits, vendored Vendored) (Archive, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Archive{}, fmt.Errorf("pack %s: %w", dir, err)
	}
	defer root.Close()
	p := packer{root: root, tally: tally{limits: limits}, vendored: vendored}
	if err := p.pack(); err != nil {
		return Archive{}, fmt.Errorf("pack %s: %w", dir, err)
	}
	if size := int64(p.out.Len()); size > limits.PackedSize {
		return Archive{}, fmt.Errorf("pack %s: %w: the archive has %d bytes, and it may have %d", dir, ErrLimit, size, limits.PackedSize)
	}
	return Archive{Data: p.out.Bytes(), Files: p.files}, nil
}

type packer struct {
	root     *os.Root
	rules    []rule
	tally    tally
	vendored Vendored
	files    []File
	out      bytes.Buffer
	tar      *tar.Writer
}

func (p *packer) pack() error {
	if err := p.readIgnore(); err != nil {
		return err
	}
	// One goroutine, since the order of blocks must not depend on timing.
	compressor, err := zstd.NewWriter(&p.out, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBetterCompression))
	if err != nil {
		return err
	}
	p.tar = tar.NewWriter(compressor)
	if err := fs.WalkDir(p.root.FS(), ".", p.visit); err != nil { // in lexical order
		return err
	}
	if len(p.files) == 0 {
		return errors.New("it holds no files to pack")
	}
	if err := p.addMade(); err != nil {
		return err
	}
	if err := p.tar.Close(); err != nil {
		return err
	}
	return compressor.Close()
}

func (p *packer) readIgnore() error {
	data, err := p.root.ReadFile(ignoreFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	p.rules, err = parseIgnore(data)
	return err
}

func (p *packer) visit(name string, entry fs.DirEntry, err error) error {
	if err != nil || name == "." {
		return err
	}
	out := leaveOut(p.rules, name, entry.IsDir())
	if p.vendored.beside(name) {
		out = !p.vendored.keeps(name)
	}
	switch {
	case out && entry.IsDir() && p.vendored.leads(name):
		return nil
	case out && entry.IsDir():
		return fs.SkipDir
	case out, entry.IsDir():
		return nil
	case !entry.Type().IsRegular():
		return fmt.Errorf("%w: %s is a link or a device; put a copy in its place, or leave it out with a line in %s", ErrUnsafe, name, ignoreFile)
	}
	return p.add(name)
}

// add writes one file. Its size is that of the open file, so that one that changes
// meanwhile is an error and no broken archive.
func (p *packer) add(name string) error {
	file, err := p.root.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if err := p.tally.add(name, info.Size()); err != nil {
		return err
	}
	header := &tar.Header{Typeflag: tar.TypeReg, Name: path.Clean(name), Size: info.Size(), Mode: modeOf(info.Mode()), Format: tar.FormatPAX}
	if err := p.tar.WriteHeader(header); err != nil {
		return err
	}
	if _, err := io.CopyN(p.tar, file, info.Size()); err != nil {
		return fmt.Errorf("%s changed while it was packed: %w", name, err)
	}
	p.files = append(p.files, File{Path: name, Size: info.Size()})
	return nil
}

// addMade writes the files that exist only in the archive.
func (p *packer) addMade() error {
	for _, name := range slices.Sorted(maps.Keys(p.vendored.Files)) {
		content := p.vendored.Files[name]
		if err := p.tally.add(name, int64(len(content))); err != nil {
			return err
		}
		header := &tar.Header{Typeflag: tar.TypeReg, Name: path.Clean(name), Size: int64(len(content)), Mode: 0o644, Format: tar.FormatPAX}
		if err := p.tar.WriteHeader(header); err != nil {
			return err
		}
		if _, err := p.tar.Write(content); err != nil {
			return err
		}
		p.files = append(p.files, File{Path: name, Size: header.Size})
	}
	return nil
}

// modeOf keeps only whether a file can be executed.
func modeOf(mode fs.FileMode) int64 {
	if mode&0o111 != 0 {
		return 0o755
	}
	return 0o644
}

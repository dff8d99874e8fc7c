package bundle

import (
	"archive/tar"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// small is limits that an archive of a test exceeds quickly.
var small = Limits{Files: 4, FileSize: 1000, TotalSize: 2000, PackedSize: 1 << 20}

// hostile is an archive that the holder of a channel's key could sign.
type hostile struct {
	archive []byte
	want    error
}

// text is what the refusal says; the words of fs are the system's.
func (h hostile) text() string {
	if errors.Is(h.want, fs.ErrExist) {
		return "exists"
	}
	return h.want.Error()
}

// refuse unpacks each, and an honest one: what is refused leaves nothing behind, and
// leaves what was unpacked before.
func refuse(t *testing.T, archives map[string]hostile) {
	t.Helper()
	archives["honest"] = hostile{archiveOf(t, regular("main.tf", 10)), nil}
	for name, test := range archives {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parent := t.TempDir()
			before := filepath.Join(parent, "before")
			if err := Unpack(revision(t, archiveOf(t, regular("main.tf", 1))), before, small); err != nil {
				t.Fatal(err)
			}
			err := Unpack(revision(t, test.archive), filepath.Join(parent, "out"), small)
			if !errors.Is(err, test.want) || test.want != nil && !strings.Contains(err.Error(), test.text()) {
				t.Fatalf("Unpack: %v; want %v", err, test.want)
			}
			entries, readErr := os.ReadDir(parent)
			if readErr != nil || err != nil && len(entries) != 1 {
				t.Errorf("the refused archive left %v, %v", entries, readErr)
			}
			if got := read(t, before); len(got) != 1 {
				t.Errorf("the revision unpacked before has now %v", got)
			}
		})
	}
}

func special(t *testing.T, kind byte, name, link string) []byte {
	t.Helper()
	return archiveOf(t, tar.Header{Typeflag: kind, Name: name, Linkname: link, Mode: 0o777})
}

func TestAttackArchiveBomb(t *testing.T) {
	t.Parallel()
	good := archiveOf(t, regular("main.tf", 10))
	refuse(t, map[string]hostile{
		"too many files":      {archiveOf(t, regular("1", 1), regular("2", 1), regular("3", 1), regular("4", 1), regular("5", 1)), ErrLimit},
		"large file":          {archiveOf(t, regular("big", 1001)), ErrLimit},
		"large sum":           {archiveOf(t, regular("1", 900), regular("2", 900), regular("3", 900)), ErrLimit},
		"nothing but zeros":   {compress(t, make([]byte, 100<<20)), ErrMalformed},
		"zeros behind a name": {archiveOf(t, regular("big", 50<<20)), ErrLimit},
		"headers":             {headerBomb(t), ErrLimit},
		"cut off":             {good[:len(good)/2], ErrMalformed},
		"not compressed":      {[]byte("main.tf"), ErrMalformed},
		"larger than allowed": {noise(t, 1<<20+1), ErrLimit},
	})
}

func TestAttackPathEscape(t *testing.T) {
	t.Parallel()
	refuse(t, map[string]hostile{
		"climbs":               {archiveOf(t, regular("../evil", 1)), ErrUnsafe},
		"climbs in the middle": {archiveOf(t, regular("a/../../evil", 1)), ErrUnsafe},
		"absolute":             {archiveOf(t, regular("/etc/evil", 1)), ErrUnsafe},
		"of Windows":           {archiveOf(t, regular(`..\evil`, 1)), ErrUnsafe},
		"with a drive":         {archiveOf(t, regular("C:/evil", 1)), ErrUnsafe},
		"with a control code":  {archiveOf(t, regular("a\x1b[2Jb", 1)), ErrUnsafe},
		"very long":            {archiveOf(t, regular(strings.Repeat("d/", 600)+"x", 1)), ErrUnsafe},
		"very long name":       {archiveOf(t, regular(strings.Repeat("n", 256), 1)), ErrUnsafe},
		"very deep":            {archiveOf(t, regular(strings.Repeat("d/", 60)+"x", 1)), ErrUnsafe},
		"state":                {archiveOf(t, regular("terraform.tfstate", 1)), ErrUnsafe},
		"installed providers":  {archiveOf(t, regular(".terraform/providers/p", 1)), ErrUnsafe},
		"hooks of git":         {archiveOf(t, regular("m/.GIT/hooks/post-checkout", 1)), ErrUnsafe},
	})
}

func TestAttackSymlink(t *testing.T) {
	t.Parallel()
	refuse(t, map[string]hostile{
		"symbolic link": {special(t, tar.TypeSymlink, "link", "/etc"), ErrUnsafe},
		"symbolic link, then a file through it": {archiveOf(t,
			tar.Header{Typeflag: tar.TypeSymlink, Name: "a", Linkname: "/tmp", Mode: 0o777}, regular("a/evil", 1)), ErrUnsafe},
		"hard link": {special(t, tar.TypeLink, "link", "main.tf"), ErrUnsafe},
		"device":    {special(t, tar.TypeBlock, "sda", ""), ErrUnsafe},
		"pipe":      {special(t, tar.TypeFifo, "pipe", ""), ErrUnsafe},
		"folder":    {special(t, tar.TypeDir, "dir/", ""), ErrUnsafe},
	})
}

func TestAttackDuplicateName(t *testing.T) {
	t.Parallel()
	refuse(t, map[string]hostile{
		"same name twice":        {archiveOf(t, regular("a", 1), regular("a", 2)), ErrUnsafe},
		"same name in capitals":  {archiveOf(t, regular("a", 1), regular("A", 2)), ErrUnsafe},
		"file where a folder is": {archiveOf(t, regular("a/b", 1), regular("a", 1)), fs.ErrExist},
	})
}

// headerBomb is a long run of large headers without content.
func headerBomb(t *testing.T) []byte {
	t.Helper()
	header := tar.Header{Typeflag: tar.TypeXGlobalHeader, Name: "g", PAXRecords: map[string]string{"comment": strings.Repeat("x", 500_000)}}
	return archiveOf(t, header, header, header)
}

func noise(t *testing.T, size int) []byte {
	t.Helper()
	data := make([]byte, size)
	if _, err := rand.Read(data); err != nil {
		t.Fatal(err)
	}
	return data
}

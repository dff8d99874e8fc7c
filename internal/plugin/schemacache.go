package plugin

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/towline/terraform-provider-towline/internal/plugin/internal/lazyschema"
)

// diskCache keeps providers' own descriptions of themselves between runs: asking
// a large provider takes half a second. An entry is named by the hash of the
// provider's package, which was verified before, so that it can only be that of
// the same program; it carries a checksum, and one that does not hold is no entry.
// The zero value keeps nothing.
type diskCache struct{ dir string }

// cacheMagic begins an entry; another version of the format has another one, as has one
// that holds more: version 2 has list resources.
const cacheMagic = "towline schema 2\n"

// maxEntryAge is how long an entry lies unused before it is removed.
const maxEntryAge = 90 * 24 * time.Hour

// path names the entry of a package, "" if there can be none.
func (c diskCache) path(packageHash string, protocol int) string {
	if c.dir == "" || packageHash == "" {
		return ""
	}
	name := sha256.Sum256([]byte(packageHash))
	return filepath.Join(c.dir, fmt.Sprintf("%s-%d.schema", hex.EncodeToString(name[:]), protocol))
}

// has tells whether something is kept for a package, whichever protocol it speaks.
func (c diskCache) has(packageHash string) bool {
	for _, protocol := range []int{5, 6} {
		if path := c.path(packageHash, protocol); path != "" {
			if _, err := os.Stat(path); err == nil {
				return true
			}
		}
	}
	return false
}

// load returns what is kept for a package, nil if there is nothing that can be used.
func (c diskCache) load(packageHash string, protocol int) *lazyschema.Response {
	path := c.path(packageHash, protocol)
	if path == "" {
		return nil
	}
	data, err := readEntry(path)
	if err != nil {
		return nil // the provider itself will answer
	}
	resp := new(lazyschema.Response)
	if proto.Unmarshal(data, resp) != nil {
		return nil
	}
	now := time.Now()
	_ = os.Chtimes(path, now, now) // an entry that is used stays; failing that it is made again one day
	return resp
}

func readEntry(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, maxSchema+1024))
	if err != nil {
		return nil, err
	}
	head := len(cacheMagic) + sha256.Size
	if len(data) < head || string(data[:len(cacheMagic)]) != cacheMagic {
		return nil, errors.New("not an entry")
	}
	if sum := sha256.Sum256(data[head:]); string(sum[:]) != string(data[len(cacheMagic):head]) {
		return nil, errors.New("damaged")
	}
	return data[head:], nil
}

// store keeps an answer. Failing to is no failure of anything else, so the error is for the log.
func (c diskCache) store(packageHash string, protocol int, resp *lazyschema.Response) error {
	path := c.path(packageHash, protocol)
	if path == "" || len(resp.GetDiagnostics()) > 0 {
		return nil
	}
	body, err := proto.Marshal(resp)
	if err != nil {
		return fmt.Errorf("keep schema: %w", err)
	}
	sum := sha256.Sum256(body)
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return fmt.Errorf("keep schema: %w", err)
	}
	tmp, err := os.CreateTemp(c.dir, ".schema-*")
	if err != nil {
		return fmt.Errorf("keep schema: %w", err)
	}
	_, err = tmp.Write(append(append([]byte(cacheMagic), sum[:]...), body...))
	err = errors.Join(err, tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("keep schema: %w", err), os.Remove(tmp.Name()))
	}
	return c.removeOld()
}

// removeOld removes entries that nobody has used for long.
func (c diskCache) removeOld() error {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return fmt.Errorf("clean schema cache: %w", err)
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || time.Since(info.ModTime()) < maxEntryAge {
			continue
		}
		if err := os.Remove(filepath.Join(c.dir, entry.Name())); err != nil {
			return fmt.Errorf("clean schema cache: %w", err)
		}
	}
	return nil
}

package simcloud

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/towline/terraform-provider-towline/internal/simcloud/cloudapi"
)

// maxRecord bounds one line of the data file: an object of the largest body with room for its escapes.
const maxRecord = 8 * cloudapi.MaxBody

// journal is the data file: one line a write, appended by one system call each,
// so that a killed process leaves at most a torn last line. What was appended
// survives the process; only closing makes it survive the machine.
type journal struct {
	file *os.File
	size int64
}

// record is one line of the data file.
type record struct {
	Event cloudapi.Event `json:"event"`
	// Object is the object's exact encoding, null after a deletion.
	Object json.RawMessage `json:"object"`
}

// openJournal replays the records of the file, drops a torn last line, and
// holds the file for this process alone.
func openJournal(path string, replay func(cloudapi.Event, *entry) error) (*journal, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	j := &journal{file: file}
	if err := j.load(replay); err != nil {
		return nil, errors.Join(fmt.Errorf("data file %s: %w", path, err), file.Close())
	}
	return j, nil
}

func (j *journal) load(replay func(cloudapi.Event, *entry) error) error {
	if err := lock(j.file); err != nil {
		return fmt.Errorf("another process uses it: %w", err)
	}
	reader := bufio.NewReaderSize(j.file, 1<<20)
	for line := 1; ; line++ {
		data, err := readLine(reader)
		if errors.Is(err, io.EOF) {
			break // what is left, if anything, was torn by a crash
		}
		if err == nil {
			err = replayLine(data, replay)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
		j.size += int64(len(data)) + 1
	}
	if err := j.file.Truncate(j.size); err != nil {
		return err
	}
	_, err := j.file.Seek(j.size, io.SeekStart)
	return err
}

// readLine returns the next whole line without its end, or io.EOF.
func readLine(reader *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := reader.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxRecord:
			return nil, errors.New("longer than any record")
		case err == nil:
			return line[:len(line)-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

func replayLine(data []byte, replay func(cloudapi.Event, *entry) error) error {
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return err
	}
	if r.Event.After == "" {
		return replay(r.Event, nil)
	}
	decoder := json.NewDecoder(bytes.NewReader(r.Object))
	decoder.UseNumber()
	object := &cloudapi.Object{}
	if err := decoder.Decode(object); err != nil {
		return err
	}
	e := &entry{object: object, encoded: r.Object, digest: cloudapi.Digest(r.Object)}
	if e.digest != r.Event.After {
		return fmt.Errorf("object %s is not what was recorded", object.Ref)
	}
	return replay(r.Event, e)
}

// append adds one record, or leaves the file as it was.
func (j *journal) append(event cloudapi.Event, after *entry) error {
	r := record{Event: event}
	if after != nil {
		r.Object = after.encoded
	}
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	n, err := j.file.Write(append(data, '\n'))
	if err != nil {
		err = errors.Join(err, j.file.Truncate(j.size))
		if _, seekErr := j.file.Seek(j.size, io.SeekStart); seekErr != nil {
			err = errors.Join(err, seekErr)
		}
		return err
	}
	j.size += int64(n)
	return nil
}

func (j *journal) close() error { return errors.Join(j.file.Sync(), j.file.Close()) }

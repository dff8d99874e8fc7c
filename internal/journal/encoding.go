package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"strconv"

	"github.com/towline/terraform-provider-towline/internal/states"
)

// line is the form of an entry on disk: one JSON object a line, with a checksum
// of the body so that a torn line is told from a whole one.
type line struct {
	CRC  uint32          `json:"crc"`
	Body json.RawMessage `json:"body"`
}

type body struct {
	Intent *Intent         `json:"intent,omitempty"`
	Result *Result         `json:"result,omitempty"`
	Object json.RawMessage `json:"object,omitempty"`
}

// maxFile bounds what is read back of a journal, in bytes.
const maxFile = 2 << 30

// Read returns what the journal at path holds and changes nothing, so that it can be
// asked while another process writes it. No file is an empty journal.
func Read(path string) (entries []Entry, err error) {
	file, err := os.Open(path) //nolint:gosec // the journal's place is chosen by whoever asks
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if entries, _, err = read(io.LimitReader(file, maxFile)); err != nil {
		return nil, fmt.Errorf("read journal %s: %w", path, err)
	}
	return entries, nil
}

// read decodes entries and returns the length of the good part. Only a last line
// without its end is torn; any other that does not decode is damaged.
func read(from io.Reader) ([]Entry, int64, error) {
	var entries []Entry
	var good int64
	reader := bufio.NewReader(from)
	for {
		raw, err := reader.ReadBytes('\n')
		if err != nil {
			if errors.Is(err, io.EOF) {
				return entries, good, nil
			}
			return nil, 0, err
		}
		entry, err := decode(raw)
		if err != nil {
			return nil, 0, fmt.Errorf("entry %d is damaged: %w; what a provider was asked to do is in doubt, so look at the objects that the whole entries name before you move the file away", len(entries)+1, err)
		}
		entries = append(entries, entry)
		good += int64(len(raw))
	}
}

func decode(raw []byte) (Entry, error) {
	var l line
	if err := json.Unmarshal(raw, &l); err != nil {
		return Entry{}, err
	}
	if crc32.ChecksumIEEE(l.Body) != l.CRC {
		return Entry{}, errors.New("its checksum does not match")
	}
	var b body
	if err := json.Unmarshal(l.Body, &b); err != nil {
		return Entry{}, err
	}
	var obj *states.Object
	if len(b.Object) > 0 {
		var err error
		if obj, err = states.DecodeObject(b.Object); err != nil {
			return Entry{}, err
		}
	}
	switch {
	case b.Intent != nil && b.Result == nil:
		b.Intent.Prior = obj
	case b.Result != nil && b.Intent == nil:
		b.Result.Object = obj
	default:
		return Entry{}, errors.New("it is neither an intent nor a result")
	}
	return Entry{Intent: b.Intent, Result: b.Result}, nil
}

func encode(b body, obj *states.Object) ([]byte, error) {
	if obj != nil {
		encoded, err := states.EncodeObject(obj)
		if err != nil {
			return nil, err
		}
		b.Object = encoded
	}
	raw, err := json.Marshal(b)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(raw)+len(`{"crc":4294967295,"body":}`)+1)
	out = append(out, `{"crc":`...)
	out = strconv.AppendUint(out, uint64(crc32.ChecksumIEEE(raw)), 10)
	out = append(out, `,"body":`...)
	out = append(out, raw...)
	return append(out, "}\n"...), nil
}

func encodeIntents(intents []Intent) ([]byte, error) {
	var out []byte
	for i := range intents {
		raw, err := encode(body{Intent: &intents[i]}, intents[i].Prior)
		if err != nil {
			return nil, fmt.Errorf("encode journal entry: %w", err)
		}
		out = append(out, raw...)
	}
	return out, nil
}

// Decode reads a batch of entries that a [Replica] was given.
func Decode(batch []byte) ([]Entry, error) {
	entries, size, err := read(bytes.NewReader(batch))
	if err == nil && size != int64(len(batch)) {
		err = errors.New("its last entry is torn")
	}
	if err != nil {
		return nil, fmt.Errorf("read journal batch: %w", err)
	}
	return entries, nil
}

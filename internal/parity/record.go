package parity

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// recordFile holds what terraform showed in a case, with names for all that is invented.
const recordFile = "recorded.json"

// maxRecord bounds a record.
const maxRecord = 64 << 20

// runRecorded compares towline with what was recorded of terraform.
func (b *Bench) runRecorded(ctx context.Context, c Case) ([]string, error) {
	want, err := readRecord(c)
	if err != nil {
		return nil, err
	}
	if len(want) != len(c.Steps) {
		return nil, errors.New("the steps have changed since they were recorded; run: make parity-record")
	}
	return b.runAgainst(ctx, c, &run{seen: want})
}

// Record runs terraform through a case, keeps what it shows, and compares towline
// with it.
func (b *Bench) Record(ctx context.Context, c Case) ([]string, error) {
	want, err := b.play(ctx, b.Terraform, c)
	if err != nil {
		return nil, err
	}
	if err := writeRecord(c, want.seen); err != nil {
		return nil, err
	}
	if want.seen, err = readRecord(c); err != nil {
		return nil, err
	}
	return b.runAgainst(ctx, c, want)
}

// crosses tells whether both programs are to plan in a directory: where one of
// them is slow, only when it is run anyway.
func (b *Bench) crosses(c Case) bool { return !c.Recorded() || b.Crossing }

func writeRecord(c Case, seen []Observation) error {
	var buf bytes.Buffer
	encoder := json.NewEncoder(&buf)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(seen); err != nil {
		return fmt.Errorf("record %s: %w", c.Name, err)
	}
	path := filepath.Join(c.Dir, recordFile)
	if err := os.WriteFile(path+".new", buf.Bytes(), 0o600); err != nil {
		return fmt.Errorf("record %s: %w", c.Name, err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("record %s: %w", c.Name, err)
	}
	return nil
}

func readRecord(c Case) ([]Observation, error) {
	f, err := os.Open(filepath.Join(c.Dir, recordFile))
	if err != nil {
		return nil, fmt.Errorf("read what was recorded; make parity-record makes it: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxRecord))
	if err != nil {
		return nil, fmt.Errorf("read what was recorded of %s: %w", c.Name, err)
	}
	doc, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("read what was recorded of %s: %w", c.Name, err)
	}
	list, _ := doc.([]any)
	seen := make([]Observation, len(list))
	for i, one := range list {
		named, _ := newNames(time.Now()).in(one).(map[string]any) // names may have been added since
		seen[i] = named
	}
	return seen, nil
}

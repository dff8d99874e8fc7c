package control

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxDocument bounds an encoded document. A receipt that lists a thousand changes
// is about a tenth of it.
const MaxDocument = 4 << 20

// ErrMalformed is wrapped by every error about bytes that are no canonical document.
var ErrMalformed = errors.New("malformed document")

// Document is what this package encodes.
type Document interface {
	// Validate returns nil or joined [FieldError]s.
	Validate() error
}

// Encode returns the canonical bytes of a valid document: compact JSON with the
// fields in the order of the type. Equal documents have equal bytes.
func Encode(doc Document) ([]byte, error) {
	if err := doc.Validate(); err != nil {
		return nil, fmt.Errorf("encode document: %w", err)
	}
	data, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("encode document: %w", err)
	}
	if len(data) > MaxDocument {
		return nil, fmt.Errorf("encode document: it has %d bytes, more than %d", len(data), MaxDocument)
	}
	return data, nil
}

// Decode reads a document that [Encode] wrote. Bytes that are not exactly what
// Encode would write are refused, so that unknown or repeated fields, another
// format version or a second document cannot hide in them.
func Decode[T Document](data []byte) (T, error) {
	var doc, none T
	if err := decodeStrict(data, &doc); err != nil {
		return none, fmt.Errorf("decode document: %w", err)
	}
	if err := doc.Validate(); err != nil {
		return none, fmt.Errorf("decode document: %w", err)
	}
	again, err := json.Marshal(doc)
	if err != nil || !bytes.Equal(again, data) {
		return none, fmt.Errorf("decode document: %w: it is not in canonical form", ErrMalformed)
	}
	return doc, nil
}

func decodeStrict(data []byte, into any) error {
	if len(data) > MaxDocument {
		return fmt.Errorf("%w: it has %d bytes, more than %d", ErrMalformed, len(data), MaxDocument)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: something follows it", ErrMalformed)
	}
	return nil
}

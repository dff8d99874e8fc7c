package cloudapi

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Limits of the wire format.
const (
	// MaxBody is the largest request body in bytes, 1 MiB as in comparable clouds.
	MaxBody = 1 << 20
	// MaxResponse is the largest response a client reads: a listing of 10,000 objects of 6 kB.
	MaxResponse = 64 << 20
	// MaxPage is the largest number of events in one answer.
	MaxPage = 10_000
)

// ActorHeader names who writes, for the event log. It is not authenticated.
const ActorHeader = "X-Simcloud-Actor"

// Ref names an object.
type Ref struct {
	Environment string `json:"environment"`
	Service     string `json:"service"`
	Kind        string `json:"kind"`
	Name        string `json:"name"`
}

// String returns ENVIRONMENT/SERVICE/KIND/NAME.
func (r Ref) String() string {
	return r.Environment + "/" + r.Service + "/" + r.Kind + "/" + r.Name
}

var nameRE = regexp.MustCompile(`^[a-z0-9]([-a-z0-9_]{0,61}[a-z0-9])?$`)

// Check returns what is wrong with the reference, or nil.
func (r Ref) Check() []FieldError {
	var problems []FieldError
	if _, ok := KindNamed(r.Kind); !ok {
		problems = append(problems, FieldError{"kind", fmt.Sprintf("must be one of %s", strings.Join(KindNames(), ", "))})
	}
	for _, part := range []struct{ field, value string }{
		{"environment", r.Environment}, {"service", r.Service}, {"name", r.Name},
	} {
		if !nameRE.MatchString(part.value) {
			problems = append(problems, FieldError{part.field, NameRule})
		}
	}
	return problems
}

// NameRule says in words what a name must look like.
const NameRule = "must be 1 to 63 lower-case letters, digits, - or _, with a letter or digit first and last"

// ValidName tells whether text may name an environment, a service or an object.
func ValidName(text string) bool { return nameRE.MatchString(text) }

// Object is one object of the cloud. It is immutable: a change makes a new one.
type Object struct {
	Ref
	// ID is unique for ever: an object made again under the same name has another.
	ID string `json:"id"`
	// Revision rises by one with every change, from 1.
	Revision int64     `json:"revision"`
	Created  time.Time `json:"created_at"`
	Updated  time.Time `json:"updated_at"`
	// Attributes are what a client may write; Status is what the cloud adds.
	Attributes map[string]any `json:"attributes"`
	Status     map[string]any `json:"status"`
}

// Digest identifies an object's content by its bytes as the server sends them.
func Digest(encoded []byte) string {
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:])
}

// Action is what a write did.
type Action string

// The actions of events.
const (
	ActionCreate Action = "create"
	ActionUpdate Action = "update"
	ActionDelete Action = "delete"
)

// Event is the record of one write. It holds no values, only their names and digests.
type Event struct {
	Sequence int64     `json:"sequence"`
	Time     time.Time `json:"time"`
	Action   Action    `json:"action"`
	Ref
	ID string `json:"id"`
	// Token is the fingerprint of the bearer token, "" without one; Actor is what
	// the client said of itself.
	Token string `json:"token,omitempty"`
	Actor string `json:"actor,omitempty"`
	// Changed names the attributes that an update changed.
	Changed []string `json:"changed,omitempty"`
	// Before and After are digests of the object, "" where there was or is none.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// FieldError says what is wrong with one attribute.
type FieldError struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Refusal is the body of every answer that is not a success.
type Refusal struct {
	Message string       `json:"message"`
	Fields  []FieldError `json:"fields,omitempty"`
}

// ObjectList is the answer to a listing.
type ObjectList struct {
	Objects []json.RawMessage `json:"objects"`
}

// EventList is the answer to a request for events.
type EventList struct {
	Events []Event `json:"events"`
	// Oldest is the lowest sequence that the server still remembers.
	Oldest int64 `json:"oldest"`
}

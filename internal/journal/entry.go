package journal

import (
	"time"

	"github.com/towline/terraform-provider-towline/internal/states"
)

// Intent says what a provider is about to be asked to do.
type Intent struct {
	// ID is unique within one journal; [Journal.Begin] sets it.
	ID      uint64 `json:"id"`
	Address string `json:"address"`
	Deposed string `json:"deposed,omitempty"`
	// Action is "create", "update" or "delete".
	Action   string    `json:"action"`
	Provider string    `json:"provider"`
	Time     time.Time `json:"time"`
	// Prior is the object's record before; nil for a create.
	Prior *states.Object `json:"-"`
	// Planned is the planned object in msgpack, which holds unknown values; nil for a delete.
	Planned       []byte `json:"planned,omitempty"`
	SchemaVersion int64  `json:"schema_version"`
	Private       []byte `json:"private,omitempty"`
	// Dependencies and CreateBeforeDestroy go into the record of a new object.
	Dependencies        []string `json:"dependencies,omitempty"`
	CreateBeforeDestroy bool     `json:"create_before_destroy,omitempty"`
	// ReadsByID tells that the provider looks objects up by their id only, and
	// that the id is not known before the object exists.
	ReadsByID bool `json:"reads_by_id,omitempty"`
	// Absent is when the object of a create that nobody saw the end of was looked for and was
	// not there; zero if nobody has looked. It may appear later: a machine that stood still
	// makes its call after another has looked.
	Absent time.Time `json:"absent,omitzero"`
}

// Result says what came of an intent.
type Result struct {
	// ID is that of the intent.
	ID      uint64    `json:"id"`
	Address string    `json:"address"`
	Deposed string    `json:"deposed,omitempty"`
	Time    time.Time `json:"time"`
	Failed  bool      `json:"failed,omitempty"`
	// Provider is needed to record the object.
	Provider string `json:"provider"`
	// Object is the record afterwards; nil if there is no object.
	Object *states.Object `json:"-"`
}

// Entry is one line of a journal: exactly one field is set.
type Entry struct {
	Intent *Intent
	Result *Result
}

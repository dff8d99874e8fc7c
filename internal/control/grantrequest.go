package control

import "time"

// GrantRequest opens a grant under a break-glass policy. It is signed by its
// opener, who must be one of the policy's approvers and counts as one approval.
type GrantRequest struct {
	Version     int      `json:"version"`
	ID          string   `json:"id"`
	Environment string   `json:"environment"`
	Policy      string   `json:"policy"`
	Targets     []string `json:"targets"`
	Reason      string   `json:"reason,omitempty"`
	// Opened and Until bound the grant; Until minus Opened is at most the policy's MaxDuration.
	Opened time.Time `json:"opened"`
	Until  time.Time `json:"until"`
	// Opener names a person, for the record.
	Opener string `json:"opener,omitempty"`
}

// GrantExtension moves the end of an open grant. It counts when as many approvers as the
// policy asks for have signed the same new end.
type GrantExtension struct {
	Version int    `json:"version"`
	ID      string `json:"id"`
	// Until is the new end, at most the policy's MaxDuration after the grant was opened.
	Until time.Time `json:"until"`
	// Time is when it was signed: what has ended is not extended.
	Time time.Time `json:"time"`
	By   string    `json:"by,omitempty"`
}

// GrantClosure ends a grant early. It is signed by any of the policy's approvers.
type GrantClosure struct {
	Version int       `json:"version"`
	ID      string    `json:"id"`
	Closed  time.Time `json:"closed"`
	Closer  string    `json:"closer,omitempty"`
}

// Validate implements [Document].
func (g GrantRequest) Validate() error {
	var check checker
	check.head(g.Version, g.Environment)
	check.name("id", g.ID)
	check.name("policy", g.Policy)
	check.that("targets", len(g.Targets) >= 1 && len(g.Targets) <= maxEntries, "must have between 1 and %d entries", maxEntries)
	for i, target := range g.Targets {
		check.text(index("targets", i), target)
		check.that(index("targets", i), target != "", "must not be empty")
	}
	check.text("reason", g.Reason)
	check.text("opener", g.Opener)
	check.time("opened", g.Opened)
	check.time("until", g.Until)
	check.that("until", g.Until.After(g.Opened), "must be after opened")
	return check.err()
}

// Validate implements [Document].
func (g GrantExtension) Validate() error {
	var check checker
	check.that("version", g.Version == FormatVersion, "is %d, but this program knows %d; upgrade it", g.Version, FormatVersion)
	check.name("id", g.ID)
	check.time("until", g.Until)
	check.time("time", g.Time)
	check.text("by", g.By)
	return check.err()
}

// Validate implements [Document].
func (g GrantClosure) Validate() error {
	var check checker
	check.that("version", g.Version == FormatVersion, "is %d, but this program knows %d; upgrade it", g.Version, FormatVersion)
	check.name("id", g.ID)
	check.time("closed", g.Closed)
	check.text("closer", g.Closer)
	return check.err()
}

package control

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// Bounds of documents: far more than people declare, small enough to read whole.
const (
	maxName     = 63
	maxText     = 2000
	maxEntries  = 1000
	maxDuration = Duration(366 * 24 * time.Hour)
)

// FieldError says what is wrong with one field of a document.
type FieldError struct {
	// Field is the path of the field as it is written, such as include[0].address.
	Field string
	// Message is a sentence without capital and full stop that follows the field's name.
	Message string
}

// Error implements error.
func (e FieldError) Error() string { return e.Field + " " + e.Message }

// FieldErrors returns the field errors that err joins.
func FieldErrors(err error) []FieldError {
	var one FieldError
	var many interface{ Unwrap() []error }
	switch {
	case errors.As(err, &many):
		var out []FieldError
		for _, inner := range many.Unwrap() {
			out = append(out, FieldErrors(inner)...)
		}
		return out
	case errors.As(err, &one):
		return []FieldError{one}
	}
	return nil
}

// ValidateName tells whether a name may be used for an environment, channel,
// agent, scope or policy.
func ValidateName(name string) error {
	switch {
	case name == "":
		return errors.New("must not be empty")
	case len(name) > maxName:
		return fmt.Errorf("must have at most %d characters", maxName)
	case name[0] == '-' || name[len(name)-1] == '-':
		return errors.New("must not begin or end with a dash")
	}
	for _, c := range name {
		if !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-') {
			return errors.New("must have only lower-case letters, digits and dashes")
		}
	}
	return nil
}

// Validate implements [Document].
func (a Agent) Validate() error {
	var check checker
	check.head(a.Version, a.Environment)
	check.name("name", a.Name)
	check.name("channel", a.Channel)
	check.optionalName("shard", a.Shard)
	check.names("scopes", a.Scopes)
	check.that("labels", len(a.Labels) <= maxEntries, "must have at most %d entries", maxEntries)
	for key, value := range a.Labels {
		check.name("labels["+key+"]", key)
		check.text("labels["+key+"]", value)
	}
	check.that("poll_interval", a.PollInterval >= Duration(time.Second) && a.PollInterval <= maxDuration, "must be between 1s and a year")
	check.that("heartbeat", a.Heartbeat == 0 || a.Heartbeat >= Duration(time.Second) && a.Heartbeat <= Duration(time.Hour), "must be between 1s and 1h")
	if a.Refresh != nil {
		check.that("refresh.budget", a.Refresh.Budget > 0 && a.Refresh.Budget <= 1, "must be above 0 and at most 1")
		check.that("refresh.within", a.Refresh.Within >= a.PollInterval && a.Refresh.Within <= maxDuration, "must be at least the time between rounds and at most a year")
	}
	if a.Slack != nil {
		check.slack(*a.Slack)
	}
	check.recipients("recipients", a.Recipients)
	if a.Signals != nil {
		check.signals(*a.Signals)
	}
	check.that("join.generation", a.Join.Generation >= 1, "must be at least 1")
	check.ed25519Key("join.public_key", a.Join.PublicKey)
	check.time("join.expires", a.Join.Expires)
	check.that("earlier", len(a.Earlier) <= MaxEarlier, "must have at most %d entries", MaxEarlier)
	before := 0
	for i, join := range a.Earlier {
		check.that(index("earlier", i), join.Generation > before && join.Generation < a.Join.Generation, "must be of a generation after the entry before and before the present one")
		check.ed25519Key(index("earlier", i), join.PublicKey)
		check.time(index("earlier", i), join.Expires)
		before = join.Generation
	}
	return check.err()
}

func (c *checker) signals(s Signals) {
	c.that("signals", len(s.Keys) > 0 || s.Queue != "", "must have keys or a queue")
	c.that("signals.keys", len(s.Keys) <= MaxRingers, "must have at most %d entries", MaxRingers)
	for i, line := range s.Keys {
		if _, err := ParseApprover(line); err != nil {
			c.that(index("signals.keys", i), false, "is %s", err)
		}
	}
	c.text("signals.queue", s.Queue)
	c.that("signals.queue", s.Queue == "" || ValidateQueue(s.Queue) == nil, "must be the URL of an SQS queue, such as https://sqs.eu-central-1.amazonaws.com/123456789012/towline")
}

// ValidateQueue checks the URL of a queue. Servers for tests are on http.
func ValidateQueue(queue string) error {
	parsed, err := url.Parse(queue)
	if err != nil || parsed.Scheme != "https" && parsed.Scheme != "http" || parsed.Host == "" || parsed.User != nil || strings.Trim(parsed.Path, "/") == "" {
		return errors.New("must be the URL of an SQS queue, such as https://sqs.eu-central-1.amazonaws.com/123456789012/towline")
	}
	return nil
}

func (c *checker) recipients(field string, recipients []string) {
	c.that(field, len(recipients) <= MaxRecipients, "must have at most %d entries", MaxRecipients)
	for i, text := range recipients {
		c.text(index(field, i), text)
		if _, err := ParseRecipient(text); err != nil {
			c.that(index(field, i), false, "is no recipient: %s", err)
		}
	}
}

// Validate implements [Document].
func (s Scope) Validate() error {
	var check checker
	check.head(s.Version, s.Environment)
	check.name("name", s.Name)
	check.that("include", len(s.Include) > 0, "must have at least one entry; write \"**\" as the address to include everything")
	check.matches("include", s.Include)
	check.matches("exclude", s.Exclude)
	for i, action := range s.Actions {
		check.that(index("actions", i), slices.Contains(actions, action), "must be create, update or delete")
	}
	check.attributes("ignore_attributes", s.IgnoreAttributes)
	check.that("max_deletes", s.MaxDeletes == nil || *s.MaxDeletes >= 0, "must not be negative")
	check.that("max_changes", s.MaxChanges == nil || *s.MaxChanges >= 0, "must not be negative")
	check.that("max_share", s.MaxShare == nil || *s.MaxShare >= 0 && *s.MaxShare <= 100, "must be between 0 and 100")
	check.windows(s.Windows)
	check.drift(s.Drift)
	check.approval(s.Approval)
	check.inventories(s.Inventories)
	return check.err()
}

var (
	actions    = []Action{ActionCreate, ActionUpdate, ActionDelete}
	driftModes = []DriftMode{DriftObserve, DriftPropose, DriftEnforce}
	afters     = []After{AfterRevert, AfterHold, AfterPropose}
)

func (c *checker) matches(field string, matches []Match) {
	c.that(field, len(matches) <= maxEntries, "must have at most %d entries", maxEntries)
	for i, match := range matches {
		c.text(index(field, i)+".address", match.Address)
		c.text(index(field, i)+".type", match.Type)
		c.text(index(field, i)+".module", match.Module)
		c.text(index(field, i)+".provider", match.Provider)
		c.that(index(field, i), match.Address+match.Type+match.Module+match.Provider != "", "must have an address, a type, a module or a provider")
		c.that(index(field, i)+".module", match.Module == "" || strings.HasPrefix(match.Module, "module.") || strings.HasPrefix(match.Module, "*"), "must be the path of a module, such as module.network")
		slashes := strings.Count(match.Provider, "/")
		c.that(index(field, i)+".provider", match.Provider == "" || slashes == 1 || slashes == 2, "must be the source of a provider, such as hashicorp/aws")
		c.paths(index(field, i)+".attributes", match.Attributes)
		c.paths(index(field, i)+".except", match.Except)
		c.that(index(field, i), field == "include" || len(match.Attributes)+len(match.Except) == 0, "must not name attributes; write them under except of what is included")
	}
}

// paths checks patterns of paths inside objects.
func (c *checker) paths(field string, patterns []string) {
	c.that(field, len(patterns) <= maxEntries, "must have at most %d entries", maxEntries)
	for i, pattern := range patterns {
		c.text(index(field, i), pattern)
		c.that(index(field, i), pattern != "" && pattern[0] != '.' && pattern[0] != '[', "must be the path of an attribute, such as tags[\"team\"]")
	}
}

// attributes checks patterns that begin with an address or a type.
func (c *checker) attributes(field string, patterns []string) {
	c.that(field, len(patterns) <= maxEntries, "must have at most %d entries", maxEntries)
	for i, pattern := range patterns {
		c.text(index(field, i), pattern)
		c.that(index(field, i), strings.Contains(pattern, "."), "must have the form ADDRESS.attribute or TYPE.attribute")
	}
}

func (c *checker) drift(d Drift) {
	c.that("drift.mode", slices.Contains(driftModes, d.Mode), "must be observe, propose or enforce")
	c.that("drift.grace", d.Grace >= 0 && d.Grace <= maxDuration, "must be between 0s and a year")
	c.attributes("drift.ignore", d.Ignore)
	c.that("drift.rules", len(d.Rules) <= maxEntries, "must have at most %d entries", maxEntries)
	for i, rule := range d.Rules {
		field := index("drift.rules", i)
		c.that(field+".attributes", len(rule.Attributes) > 0, "must have at least one entry")
		c.attributes(field+".attributes", rule.Attributes)
		c.that(field+".mode", slices.Contains(driftModes, rule.Mode), "must be observe, propose or enforce")
		c.that(field+".grace", rule.Grace >= 0 && rule.Grace <= maxDuration, "must be between 0s and a year")
	}
	if o := d.Oscillation; o != nil {
		c.that("drift.oscillation.times", o.Times >= 1 && o.Times <= 100, "must be between 1 and 100")
		c.that("drift.oscillation.within", o.Within >= Duration(time.Second) && o.Within <= maxDuration, "must be between 1s and a year")
		if !o.Resumed.IsZero() {
			c.time("drift.oscillation.resumed", o.Resumed)
		}
	}
}

func (c *checker) windows(windows []Window) {
	c.that("windows", len(windows) <= maxEntries, "must have at most %d entries", maxEntries)
	for i, w := range windows {
		for _, day := range w.Days {
			c.that(index("windows", i)+".days", slices.Contains(weekdays[:], day), "must have mon, tue, wed, thu, fri, sat and sun only")
		}
		_, fromErr := minuteOf(w.From)
		_, untilErr := minuteOf(w.Until)
		c.that(index("windows", i)+".from", fromErr == nil, "must be a time such as 22:30")
		c.that(index("windows", i)+".until", untilErr == nil, "must be a time such as 04:00")
		c.that(index("windows", i), w.From != w.Until, "must have an end that differs from its beginning")
	}
}

// approvers checks who may sign, and how many must.
func (c *checker) approvers(field string, approvers []string, approvals int) {
	c.that(field+"approvers", len(approvers) <= maxEntries, "must have at most %d entries", maxEntries)
	seen := map[string]bool{}
	for i, approver := range approvers {
		key, err := ParseApprover(approver)
		c.that(index(field+"approvers", i), err == nil, "must be a public key such as \"ssh-ed25519 AAAA… name\"")
		if err == nil {
			c.that(index(field+"approvers", i), !seen[ApproverID(key)], "must not repeat a key: one person would count as two approvals")
			seen[ApproverID(key)] = true
		}
	}
	c.that(field+"approvals", approvals >= 1, "must be at least 1")
	c.that(field+"approvals", approvals <= len(approvers), "must not be more than there are approvers")
}

func (c *checker) approval(approval *Approval) {
	if approval != nil {
		c.approvers("approval.", approval.Approvers, approval.Needed())
		c.that("approval.approvals", approval.Approvals >= 0, "must not be negative")
		c.slackUsers("approval.slack_users", approval.SlackUsers, approval.Approvers)
	}
}

func (c *checker) inventories(inventories []Inventory) {
	c.that("inventories", len(inventories) <= maxEntries, "must have at most %d entries", maxEntries)
	for i, inventory := range inventories {
		field := index("inventories", i)
		c.text(field+".data", inventory.Data)
		c.that(field+".data", strings.Contains(inventory.Data, "."), "must be the address of a data source, such as data.aws_instances.all, or of a list block, such as list.aws_instance.all")
		c.text(field+".list", inventory.List)
		if strings.HasPrefix(inventory.Data, "list.") {
			c.that(field+".list", inventory.List == "", "must be left out for a list block, which names the objects itself")
		} else {
			c.that(field+".list", inventory.List != "", "must name the attribute that lists the objects")
		}
		c.text(field+".id", inventory.ID)
	}
}

// Validate implements [Document].
func (p BreakGlassPolicy) Validate() error {
	var check checker
	check.head(p.Version, p.Environment)
	check.name("name", p.Name)
	check.names("scopes", p.Scopes)
	check.approvers("", p.Approvers, p.Approvals)
	check.that("max_duration", p.MaxDuration >= Duration(time.Minute) && p.MaxDuration <= Duration(31*24*time.Hour), "must be between 1m and 31 days")
	check.that("after", slices.Contains(afters, p.After), "must be revert, hold or propose")
	check.slackUsers("slack_users", p.SlackUsers, p.Approvers)
	return check.err()
}

// checker collects field errors.
type checker struct{ errs []error }

func (c *checker) that(field string, ok bool, format string, args ...any) {
	if !ok {
		c.errs = append(c.errs, FieldError{field, fmt.Sprintf(format, args...)})
	}
}

func (c *checker) head(version int, environment string) {
	c.that("version", version == FormatVersion, "is %d, but this program knows %d; upgrade it", version, FormatVersion)
	c.name("environment", environment)
}

func (c *checker) name(field, value string) {
	if err := ValidateName(value); err != nil {
		c.that(field, false, "%s", err)
	}
}

// optionalName is name for what may be left out.
func (c *checker) optionalName(field, value string) {
	if value != "" {
		c.name(field, value)
	}
}

func (c *checker) names(field string, values []string) {
	c.that(field, len(values) >= 1 && len(values) <= maxEntries, "must have between 1 and %d entries", maxEntries)
	seen := map[string]bool{}
	for i, value := range values {
		c.name(index(field, i), value)
		c.that(index(field, i), !seen[value], "must not repeat %q", value)
		seen[value] = true
	}
}

// text bounds free text and keeps control characters out of terminals and logs.
func (c *checker) text(field, value string) {
	c.that(field, len(value) <= maxText, "must have at most %d characters", maxText)
	plain := !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f })
	c.that(field, plain, "must not hold control characters")
}

// time asks for UTC: a time has one form only then.
func (c *checker) time(field string, value time.Time) {
	c.that(field, !value.IsZero() && value.Location() == time.UTC, "must be a time in UTC")
	c.that(field, value.Year() >= 1970 && value.Year() < 10000, "must be in a year that can be written with four digits")
}

func (c *checker) ed25519Key(field, value string) {
	_, err := decodeKey(value)
	c.that(field, err == nil, "must be an ed25519 public key in base64")
}

func (c *checker) err() error { return errors.Join(c.errs...) }

func index(field string, i int) string { return fmt.Sprintf("%s[%d]", field, i) }

func hexDigest(text string) bool {
	return len(text) == 64 && strings.Trim(text, "0123456789abcdef") == ""
}

// EncodeKey writes a public key as documents hold it.
func EncodeKey(key ed25519.PublicKey) string { return base64.StdEncoding.EncodeToString(key) }

func decodeKey(text string) (ed25519.PublicKey, error) {
	key, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(key) != ed25519.PublicKeySize {
		return nil, errors.New("not an ed25519 public key in base64")
	}
	return key, nil
}

// ParseApprover reads a public key in OpenSSH's authorized_keys form.
func ParseApprover(line string) (ssh.PublicKey, error) {
	key, _, options, rest, err := ssh.ParseAuthorizedKey([]byte(line))
	if err != nil || len(options) > 0 || len(rest) > 0 {
		return nil, errors.New("not a public key in authorized_keys form")
	}
	return key, nil
}

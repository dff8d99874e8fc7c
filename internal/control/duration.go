package control

import (
	"encoding/json"
	"fmt"
	"time"
)

// Duration is a time.Duration that is written as text, such as "5m0s".
type Duration time.Duration

// MarshalJSON writes Go's duration syntax.
func (d Duration) MarshalJSON() ([]byte, error) {
	return json.Marshal(time.Duration(d).String())
}

// UnmarshalJSON reads Go's duration syntax.
func (d *Duration) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("duration must be text such as \"5m\": %w", err)
	}
	parsed, err := time.ParseDuration(text)
	if err != nil {
		return err
	}
	*d = Duration(parsed)
	return nil
}

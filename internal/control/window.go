package control

import (
	"fmt"
	"slices"
	"time"
)

// weekdays are the names of days by [time.Weekday].
var weekdays = [...]string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// minuteOf returns the minute of the day of a time such as 22:30.
func minuteOf(text string) (int, error) {
	at, err := time.Parse("15:04", text)
	if err != nil || len(text) != len("15:04") {
		return 0, fmt.Errorf("%q is not a time of the form 22:30", text)
	}
	return at.Hour()*60 + at.Minute(), nil
}

// Open tells whether a scope lets changes be made at a time.
func (s *Scope) Open(now time.Time) bool {
	return len(s.Windows) == 0 || slices.ContainsFunc(s.Windows, func(w Window) bool { return w.holds(now.UTC()) })
}

// holds tells whether a time is inside a window. One that ends on the day after is
// of the day on which it begins.
func (w Window) holds(now time.Time) bool {
	from, fromErr := minuteOf(w.From)
	until, untilErr := minuteOf(w.Until)
	if fromErr != nil || untilErr != nil {
		return false
	}
	minute, today := now.Hour()*60+now.Minute(), now.Weekday()
	if from < until {
		return w.on(today) && minute >= from && minute < until
	}
	return w.on(today) && minute >= from || w.on((today+6)%7) && minute < until
}

func (w Window) on(day time.Weekday) bool {
	return len(w.Days) == 0 || slices.Contains(w.Days, weekdays[day])
}

package demo

import "time"

// Choose returns a stage and the options that suit it.
func Choose(_ bool) (Stage, Options, error) {
	return Simcloud(), Options{Poll: 2 * time.Second, Grace: 6 * time.Second}, nil
}

//go:build race

package demo

// raceDetector tells whether this program was built with the race detector: then
// the agent is, too.
const raceDetector = true

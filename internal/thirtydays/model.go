package thirtydays

import (
	"fmt"
	"math"
	"time"
)

// The model's sizes.
const (
	// Days is how long it lasts, Minutes the same in minutes.
	Days    = 30
	Minutes = Days * 24 * 60
	changes = 60
	seed    = 31337
	// An outage of the pipeline, in minutes.
	outageFrom, outageUntil = 17820, 19260
)

// Environments and Services are the model's namespaces.
var (
	Environments = []string{"dev", "staging", "prod"}
	Services     = []string{"collector", "verifier", "billing", "workorder"}
	// deployEvery is the time between deployments of each service in minutes, where a
	// pipeline pushes.
	deployEvery = []int{720, 480, 2880, 4320}
)

// class is what a change is made to.
type class string

const (
	written    class = "written"      // a field that a deployment writes
	notWritten class = "not-written"  // a field of the same objects that it does not write
	outOfScope class = "out-of-scope" // an object that nobody manages
)

// change is one manual change of the model.
type change struct {
	number  int
	class   class
	minute  int
	service int
	// genuine tells that it mends an emergency.
	genuine bool
	// lifespan is after how many minutes it is undone by hand; 0 means never.
	lifespan int
}

// generate makes the model's changes, in the order in which it draws them.
func generate() []change {
	state := uint32(seed)
	random := func() float64 {
		state = state*1664525 + 1013904223
		return float64(state) / (1 << 32)
	}
	out := make([]change, changes)
	for i := range out {
		c := change{number: i, class: outOfScope}
		switch p := random(); {
		case p < 0.45:
			c.class = written
		case p < 0.85:
			c.class = notWritten
		}
		c.minute = int(math.Floor(random() * Minutes))
		c.service = int(math.Floor(random() * float64(len(Services))))
		c.genuine = random() < 0.2
		if random() < 0.25 {
			c.lifespan = 5 + int(math.Floor(random()*25))
		}
		out[i] = c
	}
	return out
}

// environment is where a change happens. The model does not say; they take turns.
func (c *change) environment() string { return Environments[c.number%len(Environments)] }

// actor is who makes the change in the cloud's log, undoer who undoes it.
func (c *change) actor() string  { return fmt.Sprintf("hand-%02d", c.number) }
func (c *change) undoer() string { return fmt.Sprintf("undo-%02d", c.number) }

// target is what a change is made to: an attribute of an object.
type target struct {
	kind, name, attribute string
	// path is the attribute as receipts name it.
	path string
	// value is another value for it, which differs from change to change; nil turns a
	// flag over.
	value func(n int) any
}

// Each kind of object has attributes that the example sets and others that it leaves
// to the cloud.
var (
	writtenTargets = []target{
		{"deployment", "", "replicas", "replicas", func(n int) any { return 10 + n }},
		{"service", "", "allowed_cidrs", "allowed_cidrs", func(n int) any { return []any{fmt.Sprintf("10.%d.0.0/16", n)} }},
		{"config", "settings", "data", `data["LOG_LEVEL"]`, func(n int) any {
			return map[string]any{"LOG_LEVEL": fmt.Sprintf("debug-%d", n), "PEERS": "billing,collector,verifier,workorder"}
		}},
		{"scheduled_job", "nightly", "schedule", "schedule", func(n int) any { return fmt.Sprintf("%d 4 * * *", n%60) }},
		{"network_rule", "ingress", "priority", "priority", func(n int) any { return 2000 + n }},
		{"secret_claim", "token", "usage", "usage", func(n int) any { return []any{"login", fmt.Sprintf("other-%d", n)} }},
	}
	notWrittenTargets = []target{
		{"deployment", "", "min_ready_seconds", "min_ready_seconds", func(n int) any { return 100 + n }},
		{"service", "", "idle_timeout_seconds", "idle_timeout_seconds", func(n int) any { return 1000 + n }},
		{"secret_claim", "token", "ttl_hours", "ttl_hours", func(n int) any { return 5000 + n }},
		{"scheduled_job", "nightly", "timezone", "timezone", func(n int) any { return fmt.Sprintf("Etc/By-Hand-%d", n) }},
		{"network_rule", "ingress", "logging", "logging", nil},
		{"deployment", "", "node_pool", "node_pool", func(n int) any { return fmt.Sprintf("by-hand-%d", n) }},
	}
	// outsideTargets are of an object that somebody made by hand.
	outsideTargets = []target{{"config", unmanagedName, "data", "", func(n int) any { return map[string]any{"by-hand": fmt.Sprint(n)} }}}
)

// unmanagedName is the object in each namespace that nobody manages.
const unmanagedName = "made-by-hand"

// target returns what the change is made to.
func (c *change) target() target {
	list := map[class][]target{written: writtenTargets, notWritten: notWrittenTargets, outOfScope: outsideTargets}[c.class]
	t := list[c.number/len(Environments)%len(list)]
	if t.name == "" {
		t.name = Services[c.service]
	}
	return t
}

// begin is the model's first minute.
var begin = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

func minute(n int) time.Time { return begin.Add(time.Duration(n) * time.Minute) }

package dag

import (
	"container/heap"
	"context"
	"slices"
	"sync"
	"time"
)

// Class names a group of steps that share a limit on concurrency.
type Class int

// Compute is the first class. Its steps are short and wait for nothing: a slot of
// another class may be held for one of them.
const Compute Class = 0

// Step is a piece of a node's work. It runs in a goroutine of its own that
// counts against Class's limit, and must not wait for other nodes.
type Step struct {
	Class Class
	// Run does the work. It returns the node's next step, which is queued anew
	// under its own class, or nil if the node is done; ok false marks the node
	// as failed, which skips every node that depends on it.
	Run func(ctx context.Context) (next *Step, ok bool)
}

// Done is what a last step returns when all went well.
func Done() (*Step, bool) { return nil, true }

// Failed is what a step returns to end its node as failed.
func Failed() (*Step, bool) { return nil, false }

// Status is where a node stands.
type Status uint8

// A node waits, is ready or running, and ends as one of the last three.
const (
	Waiting Status = iota
	Active
	Succeeded
	FailedStatus
	Skipped
)

// Node is a unit of a graph. Its fields belong to its scheduler.
type Node struct {
	// Label names the node in reports of cycles. It is called only then.
	Label func() string

	step       Step
	priority   int
	pending    int32
	status     Status
	held       bool
	tainted    bool // a dependency failed or was skipped
	dependents []*Node
	began      time.Time
	seq        int64
}

// Scheduler runs nodes. Its methods are safe for concurrent use, from steps too.
type Scheduler struct {
	mu      sync.Mutex
	cond    *sync.Cond
	ready   []queue // by class
	running []int
	limits  []int
	open    int // nodes not ended
	active  int // nodes ready or running
	seq     int64
	nodes   []*Node // all, for the report of a stall
	stopped bool
}

// New returns a scheduler with one limit for each class, from class 0 on. A
// limit below 1 means no limit.
func New(limits ...int) *Scheduler {
	s := &Scheduler{
		ready:   make([]queue, len(limits)),
		running: make([]int, len(limits)),
		limits:  limits,
	}
	s.cond = sync.NewCond(&s.mu)
	return s
}

// SetLimit changes a class's limit, also while the graph runs.
func (s *Scheduler) SetLimit(class Class, limit int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limits[class] = limit
	s.cond.Signal()
}

// AddClass makes a further class with the given limit.
func (s *Scheduler) AddClass(limit int) Class {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limits = append(s.limits, limit)
	s.running = append(s.running, 0)
	s.ready = append(s.ready, nil)
	return Class(len(s.limits) - 1)
}

// Hold makes a node that does not start before [Scheduler.Release], so that
// edges can be added to it at leisure. Higher priorities run first.
func (s *Scheduler) Hold(priority int, label func() string, step Step) *Node {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq++
	n := &Node{Label: label, step: step, priority: priority, pending: 1, held: true, seq: s.seq}
	s.open++
	s.nodes = append(s.nodes, n)
	return n
}

// Depend makes n wait for on. It must be called before n is released, or from a
// step of a node that n already waits for. A node that ended is no obstacle,
// unless it failed. It is a no-op for n == on.
func (s *Scheduler) Depend(n, on *Node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.depend(n, on)
}

// DependAll is [Scheduler.Depend] on each of several nodes.
func (s *Scheduler) DependAll(n *Node, on []*Node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range on {
		s.depend(n, o)
	}
}

func (s *Scheduler) depend(n, on *Node) {
	if n == on || on == nil {
		return
	}
	switch on.status {
	case Succeeded:
	case FailedStatus, Skipped:
		n.tainted = true
	default:
		n.pending++
		on.dependents = append(on.dependents, n)
	}
}

// Release lets held nodes start as soon as what they depend on has ended.
func (s *Scheduler) Release(nodes ...*Node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range nodes {
		if n != nil && n.held {
			n.held = false
			s.settle(n)
		}
	}
	s.cond.Signal()
}

// Status tells where a node stands.
func (s *Scheduler) Status(n *Node) Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return n.status
}

// Elapsed is for reports: how long ago a node's first step began; 0 before that.
func (s *Scheduler) Elapsed(n *Node, now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n.began.IsZero() {
		return 0
	}
	return now.Sub(n.began)
}

// settle takes one obstacle off a node and, if it was the last, makes it ready
// or skips it. It uses a list of its own instead of recursion: chains are long.
func (s *Scheduler) settle(first *Node) {
	work := []*Node{first}
	for len(work) > 0 {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		if n.pending--; n.pending > 0 {
			continue
		}
		if !n.tainted && !s.stopped {
			n.status = Active
			s.active++
			heap.Push(&s.ready[n.step.Class], n)
			continue
		}
		n.status = Skipped
		work = append(work, s.end(n)...)
	}
}

// end accounts for a node that reached its last status and returns its dependents.
func (s *Scheduler) end(n *Node) []*Node {
	s.open--
	dependents := n.dependents
	n.dependents = nil
	n.step = Step{}
	if n.status != Succeeded {
		for _, d := range dependents {
			d.tainted = true
		}
	}
	return dependents
}

// Run executes the graph until every node has ended. If ctx ends, no further
// step starts: steps under way are waited for and the rest is skipped. It
// returns the nodes that can never run, because they wait for each other.
func (s *Scheduler) Run(ctx context.Context) (stuck []*Node) {
	stop := context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.stopped = true
		s.cond.Signal()
	})
	defer stop()

	s.mu.Lock()
	defer s.mu.Unlock()
	for s.open > 0 {
		if s.stopped {
			s.skipReady()
		}
		if s.startReady(ctx) {
			continue
		}
		if s.active == 0 {
			break
		}
		s.cond.Wait()
	}
	if s.open > 0 {
		for _, n := range s.nodes {
			if n.status == Waiting {
				stuck = append(stuck, n)
			}
		}
	}
	return stuck
}

// startReady starts what the limits allow and tells whether it started anything.
func (s *Scheduler) startReady(ctx context.Context) bool {
	started := false
	for class := range s.ready {
		for len(s.ready[class]) > 0 && (s.limits[class] < 1 || s.running[class] < s.limits[class]) {
			n := s.ready[class].next()
			s.running[class]++
			go s.work(ctx, n)
			started = true
		}
	}
	return started
}

// skipReady ends every ready node without running it.
func (s *Scheduler) skipReady() {
	for class := range s.ready {
		for len(s.ready[class]) > 0 {
			n := s.ready[class].next()
			s.active--
			n.status = Skipped
			for _, d := range s.end(n) {
				s.settle(d)
			}
		}
	}
}

// work runs steps of n, and then of whatever is ready in the same class, until
// nothing is: a goroutine is started only when concurrency grows.
func (s *Scheduler) work(ctx context.Context, n *Node) {
	slot := n.step.Class
	for n != nil {
		if n.began.IsZero() {
			n.began = time.Now()
		}
		next, ok := n.step.Run(ctx)
		n = s.finish(n, slot, next, ok)
	}
}

// finish accounts for a step that returned and picks the next node for the same
// goroutine, which holds a slot of a class, or nil to end it.
func (s *Scheduler) finish(n *Node, slot Class, next *Step, ok bool) *Node {
	s.mu.Lock()
	defer s.mu.Unlock()
	var released []*Node
	if ok && next != nil {
		n.step = *next
		heap.Push(&s.ready[n.step.Class], n)
	} else {
		s.active--
		n.status = Succeeded
		if !ok {
			n.status = FailedStatus
		}
		released = s.end(n)
		for _, d := range released {
			s.settle(d)
		}
	}
	follow := s.follow(slot, released)
	if follow == nil {
		s.running[slot]--
	}
	if s.moreToStart() || s.active == 0 || s.stopped || s.open == 0 {
		s.cond.Signal()
	}
	return follow
}

// follow picks what a slot is used for next, nil if it is free. If the node that
// ended has released something that matters more than all that waits for the slot,
// but that has to compute first, it does so here and now: had the slot been given
// away, it would come back to find all of them taken.
func (s *Scheduler) follow(slot Class, released []*Node) *Node {
	if s.stopped || len(s.ready[slot]) == 0 || s.limits[slot] > 0 && s.running[slot] > s.limits[slot] {
		return nil
	}
	if computing := s.ready[Compute]; slot != Compute && len(computing) > 0 &&
		computing[0].priority > s.ready[slot][0].priority && slices.Contains(released, computing[0]) {
		return s.ready[Compute].next()
	}
	return s.ready[slot].next()
}

// moreToStart tells whether Run has something to start.
func (s *Scheduler) moreToStart() bool {
	for class := range s.ready {
		if len(s.ready[class]) > 0 && (s.limits[class] < 1 || s.running[class] < s.limits[class]) {
			return true
		}
	}
	return false
}

// queue is a heap of ready nodes: highest priority first, then oldest.
type queue []*Node

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	if q[i].priority != q[j].priority {
		return q[i].priority > q[j].priority
	}
	return q[i].seq < q[j].seq
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// next takes the node out that is to start first. The heap holds nothing but nodes.
func (q *queue) next() *Node {
	n, _ := heap.Pop(q).(*Node)
	return n
}

// Push implements heap.Interface.
func (q *queue) Push(x any) {
	n, _ := x.(*Node)
	*q = append(*q, n)
}

// Pop implements heap.Interface.
func (q *queue) Pop() any {
	old := *q
	n := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return n
}

// SetStep gives a held node its work.
func (n *Node) SetStep(step Step) { n.step = step }

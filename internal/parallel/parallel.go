// Package parallel does many independent pieces of work on all cores. It is for work that only computes.
//
// It is not for work that waits, nor for pieces that need one another: those are steps of package dag.
//
// Start with [Each]. It imports nothing of this module.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Each does the pieces of work from 0 to n-1, as many at once as there are cores, and returns when all are done. A
// piece may be as short as a microsecond. Pieces report by what they leave at their own index.
func Each(n int, work func(i int)) {
	workers := min(n, runtime.GOMAXPROCS(0))
	if workers <= 1 {
		for i := range n {
			work(i)
		}
		return
	}
	var begun atomic.Int64
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for i := begun.Add(1) - 1; i < int64(n); i = begun.Add(1) - 1 {
				work(int(i))
			}
		})
	}
	wait.Wait()
}

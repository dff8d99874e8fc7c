package parallel_test

import (
	"runtime"
	"sync"
	"testing"

	"github.com/towline/terraform-provider-towline/internal/parallel"
)

// Every piece is done once, however many there are.
func TestEach(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2, 3, 1000} {
		done := make([]int, n)
		parallel.Each(n, func(i int) { done[i]++ })
		for i, times := range done {
			if times != 1 {
				t.Errorf("of %d, piece %d was done %d times", n, i, times)
			}
		}
	}
}

// As many pieces are under way at once as there are cores: here each waits for all the others.
func TestEachUsesAllCores(t *testing.T) {
	t.Parallel()
	cores := runtime.GOMAXPROCS(0)
	var together sync.WaitGroup
	together.Add(cores)
	parallel.Each(cores, func(int) {
		together.Done()
		together.Wait()
	})
}

package pivot

import (
	"errors"
	"sync"
)

// maxParallel bounds how many requests of a rule run at the same time: webhooks that do not answer take seconds each.
const maxParallel = 8

// inParallel calls do for 0 to n-1 and joins all errors.
func inParallel(n int, do func(int) error) error {
	failures := make([]error, n)
	slots := make(chan struct{}, maxParallel)
	var workers sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		workers.Go(func() {
			defer func() { <-slots }()
			failures[i] = do(i)
		})
	}
	workers.Wait()
	return errors.Join(failures...)
}

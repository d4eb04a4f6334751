package pivot

import (
	"errors"
	"sync"
)

// askedAtOnce bounds how many requests of a rule run at the same time: webhooks that do not answer take seconds each.
const askedAtOnce = 8

// inParallel calls do for 0 to n-1 and joins all errors.
func inParallel(n int, do func(int) error) error {
	failures := make([]error, n)
	places := make(chan struct{}, askedAtOnce)
	var working sync.WaitGroup
	for i := range n {
		places <- struct{}{}
		working.Go(func() {
			defer func() { <-places }()
			failures[i] = do(i)
		})
	}
	working.Wait()
	return errors.Join(failures...)
}

package pivot

import (
	"errors"
	"sync"
)

// askedAtOnce bounds how many requests a rule has under way: webhooks that do not answer take seconds each.
const askedAtOnce = 8

// inParallel calls do for 0 to n-1 and returns what went wrong, all of it.
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

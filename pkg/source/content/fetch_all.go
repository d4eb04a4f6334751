package content

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/cluster-init/cluster-init/pkg/oci"
)

const (
	fetchesAtOnce = 8
	// afterFailure is the time for the remaining files after one could not be fetched: probably the network is down,
	// and a server that drops packets would cost a timeout for each file.
	afterFailure = 30 * time.Second
)

// errGivenUp is the cause of a cancelled fetch.
var errGivenUp = fmt.Errorf("given up %s after another file could not be fetched", afterFailure)

// FetchAll fetches release files concurrently, a few at a time. It returns the files, and the errors of the others,
// both by URL.
func FetchAll(ctx context.Context, fetch Fetcher, urls []string) (map[string][]byte, map[string]error) {
	return fetchAll(ctx, fetch, urls, afterFailure)
}

func fetchAll(ctx context.Context, fetch Fetcher, urls []string, grace time.Duration) (map[string][]byte,
	map[string]error) {
	bounded, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	timer := time.AfterFunc(time.Hour, func() { giveUp(errGivenUp) }) // restarted by the first failure
	timer.Stop()
	defer timer.Stop()
	files, errs := make([][]byte, len(urls)), make([]error, len(urls))
	failed := make(chan struct{}, 1)
	var group errgroup.Group // none of them fails
	group.SetLimit(fetchesAtOnce)
	for i, url := range urls {
		group.Go(func() error {
			if files[i], errs[i] = fetch.Fetch(bounded, url); errs[i] == nil {
				return nil
			}
			if errors.Is(context.Cause(bounded), errGivenUp) {
				errs[i] = oci.Unreadable(fmt.Errorf("fetch %s: %w", oci.Redacted(url), errGivenUp))
			}
			select {
			case failed <- struct{}{}:
				timer.Reset(grace)
			default:
			}
			return nil
		})
	}
	_ = group.Wait()
	got, lacks := map[string][]byte{}, map[string]error{}
	for i, url := range urls {
		if errs[i] != nil {
			lacks[url] = errs[i]
			continue
		}
		got[url] = files[i]
	}
	return got, lacks
}

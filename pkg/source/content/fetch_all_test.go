package content

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// fetcher is a Fetcher of a function.
type fetcher func(ctx context.Context, url string) ([]byte, error)

func (f fetcher) Fetch(ctx context.Context, url string) ([]byte, error) { return f(ctx, url) }

// All that cannot be fetched is named, and no more than a handful is fetched at a time.
func TestFetchAll(t *testing.T) {
	var urls []string
	for n := range 3 * fetchesAtOnce {
		urls = append(urls, fmt.Sprintf("https://example.org/%d", n))
	}
	var lock sync.Mutex
	now, most := 0, 0
	together := make(chan struct{})
	count := func(n int) {
		lock.Lock()
		defer lock.Unlock()
		if now += n; now > most {
			if most = now; most == fetchesAtOnce {
				close(together)
			}
		}
	}
	got, lacks := FetchAll(t.Context(), fetcher(func(_ context.Context, url string) ([]byte, error) {
		count(1)
		defer count(-1)
		<-together
		if url == urls[1] || url == urls[11] {
			return nil, errors.New("lost " + url)
		}
		return []byte(url), nil
	}), urls)
	if most != fetchesAtOnce {
		t.Errorf("%d at a time, want %d", most, fetchesAtOnce)
	}
	if len(lacks) != 2 || lacks[urls[1]] == nil || lacks[urls[11]] == nil || string(got[urls[2]]) != urls[2] ||
		len(got) != len(urls)-2 {
		t.Errorf("got %d files, lacks %v", len(got), lacks)
	}
}

// Servers that do not answer are not waited for once something could not be fetched.
func TestFetchAllGivesUp(t *testing.T) {
	urls := []string{"https://example.org/refused", "https://me:s3cret@example.org/silent-1",
		"https://example.org/silent-2"}
	_, lacks := fetchAll(t.Context(), fetcher(func(ctx context.Context, url string) ([]byte, error) {
		if url == urls[0] {
			return nil, errors.New("refused")
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}), urls, time.Nanosecond)
	for _, url := range urls[1:] {
		err := lacks[url]
		if fault.CodeOf(err) != fault.SourceUnreadable || !strings.Contains(fmt.Sprint(err), "/silent-") ||
			strings.Contains(fmt.Sprint(err), "s3cret") || !errors.Is(err, errGivenUp) {
			t.Errorf("%s: %v", url, err)
		}
	}
}

package content

import (
	"fmt"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// hintAnswered and hintChanged are the hints for an unexpected answer.
const (
	hintAnswered = "Open the address from this machine: a proxy or captive portal probably answered instead of " +
		"the server. The answer was discarded."
	hintChanged = "Open the address from this machine: a proxy or captive portal answered instead of the server, or " +
		"the release was changed. The answer was discarded."
)

// Unpinned returns those of urls without a pinned digest.
func (f *HTTPFetcher) Unpinned(urls []string) []string { return f.Sums.Unpinned(urls) }

// verify compares data with its digest or, if none is pinned, with its format. The error is a fault SourceUnreadable.
func (f *HTTPFetcher) verify(address string, data []byte) error {
	want := f.Sums[address]
	if want == "" && f.AnyForm {
		return fault.Wrap(noPage(data), fault.SourceUnreadable, hintAnswered)
	}
	if want == "" {
		return fault.Wrap(wellFormed(address, data), fault.SourceUnreadable, hintAnswered)
	}
	got := Sum(data)
	if got == want {
		return nil
	}
	err := fmt.Errorf("the SHA-256 digest of the answer is %s, %s has %s", got, SumsFile, want)
	if isPage(data) {
		err = fmt.Errorf("the answer is a web page: %w", err)
	}
	return fault.Wrap(err, fault.SourceUnreadable, hintChanged)
}

package content

import (
	"fmt"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// hintAnswered and hintChanged say what to do about an answer that is not what was asked for.
const (
	hintAnswered = "Open the address from this machine: a proxy or captive portal most likely answered in place of " +
		"the server. Nothing of the answer was kept."
	hintChanged = "Open the address from this machine: a proxy or captive portal answered in place of the server, or " +
		"the release was changed. Nothing of the answer was kept."
)

// Unpinned returns those of urls whose content no digest vouches for.
func (f *HTTPFetcher) Unpinned(urls []string) []string { return f.Sums.Unpinned(urls) }

// verify holds data against its digest, or, where none is pinned, against its form. The error is a fault
// SourceUnreadable.
func (f *HTTPFetcher) verify(address string, data []byte) error {
	want := f.Sums[address]
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

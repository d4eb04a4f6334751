package output_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/output"
)

func TestTailKeepsTheEnd(t *testing.T) {
	for _, writes := range [][]string{{"0123456789"}, {"01234", "56789"}, {"0123456", "", "7", "89"}} {
		kept := &output.Tail{Limit: 4}
		for _, text := range writes {
			if n, err := fmt.Fprint(kept, text); err != nil || n != len(text) {
				t.Errorf("%q: wrote %d bytes: %v", text, n, err)
			}
		}
		if got := kept.String(); got != "6789" {
			t.Errorf("%q: kept %q", writes, got)
		}
	}
}

func TestTailHasSeveralWriters(t *testing.T) {
	kept, writers := &output.Tail{Limit: 1 << 10}, sync.WaitGroup{}
	for range 8 {
		writers.Go(func() { _, _ = fmt.Fprint(kept, "0123456789") })
	}
	writers.Wait()
	if got := kept.String(); got != strings.Repeat("0123456789", 8) {
		t.Errorf("kept %q", got)
	}
}

func TestWholeKeepsAllOrFails(t *testing.T) {
	exceeded := 0
	kept := &output.Whole{Limit: 4, Exceeded: func() { exceeded++ }}
	if _, err := fmt.Fprint(kept, "0123"); err != nil || kept.Full() || kept.String() != "0123" {
		t.Errorf("kept %q, %v", kept, err)
	}
	for range 2 {
		if n, err := fmt.Fprint(kept, "4"); n != 0 || !errors.Is(err, output.ErrTooLong) {
			t.Errorf("wrote %d bytes beyond the limit: %v", n, err)
		}
	}
	if !kept.Full() || exceeded != 1 || string(kept.Bytes()) != "0123" {
		t.Errorf("full %t, called %d times, kept %q", kept.Full(), exceeded, kept)
	}
}

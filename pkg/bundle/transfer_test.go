package bundle

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/random"
)

// A long transfer is reported every few seconds with what was sent, and with the sum at the end.
func TestTransferTellsHowFarItIs(t *testing.T) {
	image, err := random.Image(1000, 2)
	if err != nil {
		t.Fatal(err)
	}
	size := sizeOf(image)
	if size < 2000 {
		t.Fatalf("two layers of a thousand bytes have %d", size)
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var told []Step
	tr := newTransfer(2, func(s Step) { told = append(told, s) }, func() time.Time { return now })
	after := func(d time.Duration) { now = now.Add(d) }

	tr.begin(0, "one", image)
	after(4 * time.Second)
	tr.sent(100) // too soon
	after(2 * time.Second)
	tr.sent(400)
	after(time.Second)
	tr.sent(500) // too soon again
	tr.begin(1, "two", image)
	after(10 * time.Second)
	tr.sent(7)
	tr.end()

	want := []Step{
		{Done: 0, Total: 2, What: "one", Size: size},
		{Done: 0, Total: 2, What: "one", Size: size, Sent: 500, Elapsed: 6 * time.Second},
		{Done: 1, Total: 2, What: "two", Size: size},
		{Done: 1, Total: 2, What: "two", Size: size, Sent: 7, Elapsed: 10 * time.Second},
		{Done: 2, Total: 2, Sent: 1007, Elapsed: 17 * time.Second},
	}
	if !slices.Equal(told, want) {
		t.Errorf("told %+v,\nwant %+v", told, want)
	}
}

package bundle

import (
	"sync"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Step is how far a transfer of several images is.
type Step struct {
	Done, Total int           // images that are behind it, and all
	What        string        // the image that is under way; empty: all are there
	Sent, Size  int64         // bytes of What: sent, 0 at its begin, and all. When all are there: what was sent of all
	Elapsed     time.Duration // since the begin of What. When all are there: since the begin
}

// Progress hears of each image before it is handled, now and then while it is sent, and once at the end.
type Progress func(Step)

// tellEvery is how often a Progress hears of an image that takes long.
const tellEvery = 5 * time.Second

// transfer tells a Progress of the images that are sent one after the other.
type transfer struct {
	report Progress // nil: nobody listens
	now    func() time.Time

	mu               sync.Mutex // layers of an image are sent side by side
	step             Step
	all              int64
	first, began, at time.Time // of all, of this image, of what was told last
}

func newTransfer(total int, report Progress, now func() time.Time) *transfer {
	return &transfer{report: report, now: now, step: Step{Total: total}, first: now()}
}

// begin tells that an image is begun.
func (t *transfer) begin(done int, what string, img v1.Image) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.step.Done, t.step.What, t.step.Sent, t.step.Size, t.step.Elapsed = done, what, 0, sizeOf(img), 0
	t.began = t.now()
	t.tell(t.began)
}

// sent hears of bytes of the image that were read to be sent.
func (t *transfer) sent(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.step.Sent += int64(n)
	t.all += int64(n)
	if now := t.now(); now.Sub(t.at) >= tellEvery {
		t.step.Elapsed = now.Sub(t.began)
		t.tell(now)
	}
}

// end tells that all images are there.
func (t *transfer) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	t.step = Step{Done: t.step.Total, Total: t.step.Total, Sent: t.all, Elapsed: now.Sub(t.first)}
	t.tell(now)
}

func (t *transfer) tell(now time.Time) {
	t.at = now
	if t.report != nil {
		t.report(t.step)
	}
}

// sizeOf is how many bytes the layers of an image have; 0 where that cannot be known, which who sends it will find out.
func sizeOf(img v1.Image) int64 {
	layers, err := img.Layers()
	if err != nil {
		return 0
	}
	var all int64
	for _, layer := range layers {
		size, err := layer.Size()
		if err != nil {
			return 0
		}
		all += size
	}
	return all
}

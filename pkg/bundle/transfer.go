package bundle

import (
	"sync"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Step is the state of a transfer of several images.
type Step struct {
	Done, Total int           // finished images, and all
	What        string        // the image in transfer; empty: all are done
	Sent, Size  int64         // bytes of What: sent so far, and all; at the end Sent is the sum of all images
	Elapsed     time.Duration // since the beginning of What; at the end, since the first image
}

// Progress is called before each image, regularly while it is sent, and once at the end.
type Progress func(Step)

// tellEvery is the interval of reports during a long transfer.
const tellEvery = 5 * time.Second

// transfer reports images that are sent one after the other.
type transfer struct {
	report Progress // nil: no reports
	now    func() time.Time

	mu               sync.Mutex // layers of an image are sent concurrently
	step             Step
	all              int64
	first, began, at time.Time // of all, of this image, of the last report
}

func newTransfer(total int, report Progress, now func() time.Time) *transfer {
	return &transfer{report: report, now: now, step: Step{Total: total}, first: now()}
}

// begin reports the beginning of an image.
func (t *transfer) begin(done int, what string, img v1.Image) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.step.Done, t.step.What, t.step.Sent, t.step.Size, t.step.Elapsed = done, what, 0, sizeOf(img), 0
	t.began = t.now()
	t.tell(t.began)
}

// sent counts bytes of the image that were read to be sent.
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

// end reports that all images are done.
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

// sizeOf returns the size of an image's layers in bytes, or 0 if it is unknown. The transfer then reports the error.
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

// Package output keeps what a program writes, within a bound: a program of others may write without end.
package output

import (
	"bytes"
	"errors"
	"sync"
)

// Tail keeps the end of what is written to it, by several writers: the cause is at the end of an error message. The
// zero value keeps nothing.
type Tail struct {
	Limit int // in bytes
	mutex sync.Mutex
	bytes bytes.Buffer
}

// Write never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.bytes.Write(p)
	if over := t.bytes.Len() - t.Limit; over > 0 {
		t.bytes.Next(over)
	}
	return len(p), nil
}

// String returns what was kept.
func (t *Tail) String() string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.bytes.String()
}

// ErrTooLong is the error of a write to a Whole beyond its limit.
var ErrTooLong = errors.New("it is longer than any that is read here")

// Whole keeps all that one writer writes to it, or fails.
type Whole struct {
	Limit int // in bytes
	// Exceeded is called at the first write beyond the limit. It may be nil.
	Exceeded func()

	bytes bytes.Buffer
	full  bool
}

// Write keeps p, or fails with ErrTooLong.
func (w *Whole) Write(p []byte) (int, error) {
	if w.bytes.Len()+len(p) <= w.Limit {
		return w.bytes.Write(p)
	}
	if !w.full && w.Exceeded != nil {
		w.Exceeded()
	}
	w.full = true
	return 0, ErrTooLong
}

// Full reports whether a write was beyond the limit.
func (w *Whole) Full() bool { return w.full }

// Bytes returns what was kept. It is valid until the next write.
func (w *Whole) Bytes() []byte { return w.bytes.Bytes() }

// String returns what was kept.
func (w *Whole) String() string { return w.bytes.String() }

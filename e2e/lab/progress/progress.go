// Package progress prints one line when a step of the lab starts, one every half minute while it runs and one when
// it ends.
package progress

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// heartbeat is the time after which a step that still runs says so.
const heartbeat = 30 * time.Second

// Printer writes progress lines. It is safe for use by several goroutines.
type Printer struct {
	mutex sync.Mutex
	out   io.Writer
	start time.Time
}

// New returns a printer that writes to out.
func New(out io.Writer) *Printer { return &Printer{out: out, start: time.Now()} }

// Say prints one line.
func (p *Printer) Say(format string, args ...any) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	elapsed := time.Since(p.start).Round(time.Second)
	fmt.Fprintf(p.out, "lab [%5s] %s\n", elapsed, fmt.Sprintf(format, args...))
}

// Step runs one step, and reports its start, its progress and its duration.
func (p *Printer) Step(name string, run func() error) error {
	p.Say("%s ...", name)
	began := time.Now()
	done := make(chan struct{})
	var beat sync.WaitGroup
	beat.Go(func() {
		ticker := time.NewTicker(heartbeat)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				p.Say("%s ... still at it after %s", name, time.Since(began).Round(time.Second))
			}
		}
	})
	err := run()
	close(done)
	beat.Wait()
	took := time.Since(began).Round(100 * time.Millisecond)
	if err != nil {
		p.Say("%s: failed after %s", name, took)
		return fmt.Errorf("%s: %w", name, err)
	}
	p.Say("%s: done in %s", name, took)
	return nil
}

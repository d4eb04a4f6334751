package hypervisor

import (
	"context"
	"time"
)

// report says each failure once, and when it is over.
type report struct {
	say  func(format string, args ...any)
	last map[string]string // what fails: with which message
}

func newReport(say func(format string, args ...any)) *report {
	return &report{say: say, last: map[string]string{}}
}

// failed reports whether there was an error, and tells of it unless it is known. An error because this program is to
// end is none worth telling.
func (r *report) failed(ctx context.Context, what string, err error) bool {
	switch {
	case ctx.Err() != nil:
	case err == nil && r.last[what] != "":
		delete(r.last, what)
		r.say("%s: fine again", what)
	case err != nil && r.last[what] != err.Error():
		r.last[what] = err.Error()
		r.say("%s: %v", what, err)
	}
	return err != nil
}

const (
	firstPause   = time.Second
	longestPause = 30 * time.Second
)

// pause keeps a machine that fails from being made again every second: it is a copy of hundreds of megabytes each time.
type pause struct {
	now   func() time.Time
	until map[string]time.Time
	next  map[string]time.Duration
}

func newPause(now func() time.Time) *pause {
	return &pause{now: now, until: map[string]time.Time{}, next: map[string]time.Duration{}}
}

func (p *pause) waiting(server string) bool { return p.now().Before(p.until[server]) }

// after notes how it went: each failure in a row makes the pause twice as long.
func (p *pause) after(server string, err error) {
	if err == nil {
		delete(p.until, server)
		delete(p.next, server)
		return
	}
	wait := max(firstPause, p.next[server])
	p.until[server], p.next[server] = p.now().Add(wait), min(2*wait, longestPause)
}

package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

const (
	// grace is the time that daemons have to end by themselves.
	grace = 15 * time.Second
	// killTimeout bounds the wait for processes that were killed.
	killTimeout = 10 * time.Second
)

// Stop ends daemons together: asks all processes of their sessions to end, and kills those that have not after 15
// seconds. It returns the names of daemons that had to be killed. Daemons that do not run, or have no note, are no
// error.
func (f Folder) Stop(ctx context.Context, names ...string) (killed []string, err error) {
	f.signal(syscall.SIGTERM, names)
	if err := f.gone(ctx, f.grace, names); err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		killed = f.signal(syscall.SIGKILL, names)
		if err := f.gone(ctx, killTimeout, names); err != nil {
			return killed, err
		}
	}
	for _, name := range names {
		if err := os.Remove(f.note(name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return killed, fmt.Errorf("forget %s: %w", name, err)
		}
	}
	return killed, nil
}

// signal sends a signal to all processes of the daemons and returns the daemons that had any.
func (f Folder) signal(signal syscall.Signal, names []string) []string {
	var had []string
	for _, name := range names {
		pids := f.Processes(name)
		for _, pid := range pids {
			_ = syscall.Kill(pid, signal) // gone by itself in between: what was wanted
		}
		if len(pids) > 0 {
			had = append(had, name)
		}
	}
	return had
}

// gone waits until no process of the daemons is left.
func (f Folder) gone(ctx context.Context, bound time.Duration, names []string) error {
	return Wait(ctx, "the end of daemons", bound, func(context.Context) error {
		for _, name := range names {
			if left := f.Processes(name); len(left) > 0 {
				return fmt.Errorf("%s still has processes %v", name, left)
			}
		}
		return nil
	})
}

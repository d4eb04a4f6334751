package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// longestPause is the time between two looks at something that takes long; the first ones are closer.
const longestPause = 250 * time.Millisecond

// tailLines is how much of a log an error carries.
const tailLines = 15

// errEnded says that waiting longer is of no use.
var errEnded = errors.New("it has ended")

// Wait looks until check returns nil, for at most bound. The error names what was waited for and what check said last.
func Wait(ctx context.Context, what string, bound time.Duration, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, longestPause) {
		last := check(ctx)
		if last == nil {
			return nil
		}
		if errors.Is(last, errEnded) {
			return fmt.Errorf("wait for %s: %w", what, last)
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return fmt.Errorf("wait for %s: not within %s: %w", what, bound, last)
			}
			return fmt.Errorf("wait for %s: %w", what, ctx.Err())
		case <-timer.C:
		}
	}
}

// Ready waits until check returns nil, and gives up at once when one of the daemons ends. The error has the end of the
// log of the daemon that ended, or of all of them.
func (f Folder) Ready(ctx context.Context, what string, daemons []Daemon, bound time.Duration,
	check func(context.Context) error) error {
	err := Wait(ctx, what, bound, func(ctx context.Context) error {
		for _, daemon := range daemons {
			if !f.Running(daemon.Name) {
				return fmt.Errorf("%s: %w%s", daemon.Name, errEnded, f.tail(daemon.Name))
			}
		}
		return check(ctx)
	})
	if err == nil || errors.Is(err, errEnded) || ctx.Err() != nil {
		return err
	}
	for _, daemon := range daemons {
		err = fmt.Errorf("%w%s", err, f.tail(daemon.Name))
	}
	return err
}

// tail returns the last lines of a daemon's log, with its path, to stand below an error.
func (f Folder) tail(name string) string {
	path := f.Log(name)
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err == nil && info.Size() > 8192 {
		_, _ = file.Seek(-8192, io.SeekEnd)
	}
	content, _ := io.ReadAll(file)
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	lines = lines[max(0, len(lines)-tailLines):]
	return "\n  " + path + ":\n  | " + strings.Join(lines, "\n  | ")
}

package container

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// longestPause is the time between two looks at something that takes long; the first ones are closer.
const longestPause = 250 * time.Millisecond

// tailLines is how much of a log an error carries.
const tailLines = "15"

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

// lookPause is the time between two looks at the containers of daemons: each is a call of the docker CLI.
const lookPause = 3 * time.Second

// Ready waits until check returns nil, and gives up when one of the daemons has ended. The error has the end of the log
// of the daemon that ended, or of all of them.
func Ready(ctx context.Context, what string, daemons []Daemon, bound time.Duration,
	check func(context.Context) error) error {
	looked := time.Now()
	err := Wait(ctx, what, bound, func(ctx context.Context) error {
		if time.Since(looked) > lookPause {
			looked = time.Now()
			running, err := Running(ctx)
			if err != nil {
				return err
			}
			for _, daemon := range daemons {
				if !slices.Contains(running, daemon.Name) {
					return fmt.Errorf("%s: %w%s", daemon.Name, errEnded, tail(ctx, daemon.Name))
				}
			}
		}
		return check(ctx)
	})
	if err == nil || errors.Is(err, errEnded) || ctx.Err() != nil {
		return err
	}
	for _, daemon := range daemons {
		err = fmt.Errorf("%w%s", err, tail(ctx, daemon.Name))
	}
	return err
}

// tail returns the last lines of a daemon's log, to stand below an error.
func tail(ctx context.Context, daemon string) string {
	log, err := exec.CommandContext(ctx, "docker", "logs", "--tail", tailLines, name(daemon)).CombinedOutput()
	if err != nil {
		return ""
	}
	return "\n  docker logs " + name(daemon) + ":\n  | " +
		strings.Join(strings.Split(strings.TrimSpace(string(log)), "\n"), "\n  | ")
}

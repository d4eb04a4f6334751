package container

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Started returns the names of the daemons that were started and not stopped. They may have ended since.
func Started(ctx context.Context) ([]string, error) {
	out, err := docker(ctx, nil, "container", "ls", "--all", "--filter", "label="+label, "--format",
		`{{.Label "`+label+`"}}`)
	if err != nil {
		return nil, fmt.Errorf("list the daemons: %w", err)
	}
	return strings.Fields(out), nil
}

// Running returns the names of the daemons that run.
func Running(ctx context.Context) ([]string, error) {
	out, err := docker(ctx, nil, "container", "ls", "--filter", "label="+label, "--format", `{{.Label "`+label+`"}}`)
	if err != nil {
		return nil, fmt.Errorf("list the daemons: %w", err)
	}
	return strings.Fields(out), nil
}

func isRunning(ctx context.Context, daemon string) (bool, error) {
	running, err := Running(ctx)
	return slices.Contains(running, daemon), err
}

// Stop ends daemons together, and removes their containers. Daemons that were not started are no error.
func Stop(ctx context.Context, daemons ...string) error {
	started, err := Started(ctx)
	if err != nil {
		return err
	}
	var names []string
	for _, daemon := range daemons {
		if slices.Contains(started, daemon) {
			names = append(names, name(daemon))
		}
	}
	if len(names) == 0 {
		return nil
	}
	if _, err := docker(ctx, nil, append([]string{"stop", "--time", grace}, names...)...); err != nil {
		return fmt.Errorf("stop daemons: %w", err)
	}
	if _, err := docker(ctx, nil, append([]string{"rm", "--force", "--volumes"}, names...)...); err != nil {
		return fmt.Errorf("remove daemons: %w", err)
	}
	return nil
}

// Usage is what a running daemon uses, as Docker says it.
type Usage struct{ Processes, Memory string }

// Used returns what each running daemon uses.
func Used(ctx context.Context) (map[string]Usage, error) {
	running, err := Running(ctx)
	if err != nil || len(running) == 0 {
		return nil, err
	}
	args := []string{"stats", "--no-stream", "--format", "{{.Name}}\t{{.PIDs}}\t{{.MemUsage}}"}
	for _, daemon := range running {
		args = append(args, name(daemon))
	}
	out, err := docker(ctx, nil, args...)
	if err != nil {
		return nil, fmt.Errorf("read what the daemons use: %w", err)
	}
	used := map[string]Usage{}
	for line := range strings.Lines(out) {
		if fields := strings.Split(strings.TrimSpace(line), "\t"); len(fields) == 3 {
			memory, _, _ := strings.Cut(fields[2], " ")
			used[strings.TrimPrefix(fields[0], name(""))] = Usage{Processes: fields[1], Memory: memory}
		}
	}
	return used, nil
}

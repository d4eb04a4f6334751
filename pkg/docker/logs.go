package docker

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// Logs returns the last lines that a container wrote, at most limit bytes in whole lines: its stderr comes after its
// stdout.
func (c *Client) Logs(ctx context.Context, container string, lines, limit int) (string, error) {
	stdout, stderr := &lastLines{limit: limit / 2}, &lastLines{limit: limit / 2}
	err := c.run(ctx, call{args: []string{"logs", "--tail", strconv.Itoa(lines), container}, stdout: stdout,
		stderr: stderr})
	if err != nil {
		return "", fmt.Errorf("read the log of container %s: %w", container, err)
	}
	return stdout.String() + stderr.String(), nil
}

// Output returns what a command in a running container writes to stdout, at most the last limit bytes in whole lines.
func (c *Client) Output(ctx context.Context, container string, args []string, limit int) (string, error) {
	out := &lastLines{limit: limit}
	err := c.Exec(ctx, container, args, ExecOptions{Stdout: out})
	return out.String(), err
}

// InspectAll returns the whole result of inspect for one container.
func (c *Client) InspectAll(ctx context.Context, container string) (map[string]any, error) {
	out, err := c.output(ctx, "container", "inspect", container)
	if err != nil {
		return nil, fmt.Errorf("inspect container %s: %w", container, err)
	}
	raw, err := decodeSingle[map[string]any](out)
	if err != nil {
		return nil, fmt.Errorf("inspect container %s: %w", container, err)
	}
	return raw, nil
}

// Table lists all containers, also stopped ones, one a line: name, image, state and published ports.
func (c *Client) Table(ctx context.Context) (string, error) {
	out, err := c.output(ctx, "container", "ls", "--all", "--no-trunc", "--format",
		"table {{.Names}}\t{{.Image}}\t{{.Status}}\t{{.Ports}}")
	if err != nil {
		return "", fmt.Errorf("list containers: %w", err)
	}
	return out + "\n", nil
}

// lastLines keeps the end of what is written to it, from the beginning of a line: half a line could contain half a
// secret, which no redaction would find. It may be written to while it is read.
type lastLines struct {
	limit int

	mu  sync.Mutex
	buf []byte
	cut bool
}

// Write appends p and drops the oldest bytes.
func (l *lastLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf = append(l.buf, p...)
	if over := len(l.buf) - l.limit; over > 0 {
		l.buf, l.cut = append(l.buf[:0], l.buf[over:]...), true
	}
	return len(p), nil
}

// String returns the lines, with a note if some were dropped.
func (l *lastLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.cut {
		return string(l.buf)
	}
	_, whole, _ := strings.Cut(string(l.buf), "\n")
	return "(cut: only the end is kept)\n" + whole
}

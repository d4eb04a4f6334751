// Package docker drives a Docker engine through the docker CLI, as kind does: it honors contexts and DOCKER_HOST, and
// reaches everything that the user's own `docker` reaches.
package docker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/cluster-init/cluster-init/pkg/output"
)

// Client runs docker commands. The zero value uses the `docker` on PATH with the process environment.
type Client struct {
	// Binary is the CLI to run; empty means "docker".
	Binary string
	// Env is added to the process environment, as KEY=value (e.g. DOCKER_HOST=...).
	Env []string
	// NotNeeded is for a run that has nothing in any engine: no engine is called, and nothing is found.
	NotNeeded bool
}

// errNotNeeded is the error if no engine is called.
var errNotNeeded = fmt.Errorf("%w: this run needs no Docker engine and called none", ErrNotFound)

// call is one docker command: its input and output, and the environment that it needs in addition to the client's.
type call struct {
	args   []string
	env    []string
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer // nil: only errors contain the end of stderr
}

// waitDelay is how long to wait for a killed command: its own children, such as ssh or a plugin, may keep its output
// open for ever.
const waitDelay = 2 * time.Second

// run executes one docker command. Its errors wrap a *CommandError, or the cause of ctx's end, or are errNotNeeded.
func (c *Client) run(ctx context.Context, k call) error {
	if c.NotNeeded {
		return errNotNeeded
	}
	cmd := exec.CommandContext(ctx, c.binary(), k.args...)
	cmd.Env = append(append(os.Environ(), c.Env...), k.env...)
	stderr := &output.Tail{Limit: 16 << 10}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = k.stdin, k.stdout, stderr
	if k.stderr != nil {
		cmd.Stderr = io.MultiWriter(stderr, k.stderr)
	}
	cmd.WaitDelay = waitDelay
	err := cmd.Run()
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("docker %s: %w", verb(k.args), context.Cause(ctx))
	}
	return classify(k.args, strings.TrimSpace(stderr.String()), err)
}

// output executes one docker command and returns its stdout without the surrounding white space.
func (c *Client) output(ctx context.Context, args ...string) (string, error) {
	var out bytes.Buffer
	err := c.run(ctx, call{args: args, stdout: &out})
	return strings.TrimSpace(out.String()), err
}

// lines executes one docker command and returns the lines of its stdout that are not empty.
func (c *Client) lines(ctx context.Context, args ...string) ([]string, error) {
	out, err := c.output(ctx, args...)
	if err != nil {
		return nil, err
	}
	var lines []string
	for line := range strings.SplitSeq(out, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines, nil
}

func (c *Client) binary() string {
	if c.Binary != "" {
		return c.Binary
	}
	return "docker"
}

// verb names a command for messages: the words before the first flag, two at most.
func verb(args []string) string {
	n := 0
	for n < len(args) && n < 2 && !strings.HasPrefix(args[n], "-") {
		n++
	}
	return strings.Join(args[:n], " ")
}

// exitCode is the exit status in err, -1 when the command did not run.
func exitCode(err error) int {
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return e.ExitCode()
	}
	return -1
}

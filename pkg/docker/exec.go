package docker

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// ExecOptions are the input, output and rights of a command inside a container.
type ExecOptions struct {
	Stdin      io.Reader // nil: no stdin is attached
	Stdout     io.Writer // nil: discarded
	Privileged bool
}

// Exec runs a command in a running container and waits for its end. The error of a failed command has the end of its
// stderr. Do not put secrets into args.
func (c *Client) Exec(ctx context.Context, container string, args []string, o ExecOptions) error {
	docker := []string{"exec"}
	if o.Stdin != nil {
		docker = append(docker, "--interactive")
	}
	if o.Privileged {
		docker = append(docker, "--privileged")
	}
	docker = append(append(docker, container), args...)
	if err := c.run(ctx, call{args: docker, stdin: o.Stdin, stdout: o.Stdout}); err != nil {
		return fmt.Errorf("in container %s: %w", container, err)
	}
	return nil
}

// HasFile reports whether a file exists in a running container. It reads the command's output: an exit code would be
// ambiguous, as docker's own failures have the same.
func (c *Client) HasFile(ctx context.Context, container, path string) (bool, error) {
	var answer strings.Builder
	err := c.Exec(ctx, container, []string{"sh", "-c", `if test -e "$0"; then echo there; else echo absent; fi`, path},
		ExecOptions{Stdout: &answer})
	switch said := strings.TrimSpace(answer.String()); {
	case err != nil:
		return false, fmt.Errorf("look for %s: %w", path, err)
	case said == "there", said == "absent":
		return said == "there", nil
	default:
		return false, fmt.Errorf("look for %s in container %s: it says %q", path, container, said)
	}
}

// ExecCommand returns the command that runs args in a container with stdin attached, not started: for callers
// that speak a protocol over its pipes. It lives until ctx ends or its process does.
func (c *Client) ExecCommand(ctx context.Context, container string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.binary(), append([]string{"exec", "--interactive", container}, args...)...)
	cmd.WaitDelay = waitDelay
	cmd.Env = append(os.Environ(), c.Env...)
	return cmd
}

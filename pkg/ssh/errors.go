package ssh

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// ExitError is the failure of a program on the machine.
type ExitError struct {
	Code   int    // at most 252
	Stderr string // the end of its stderr
}

// Error is the end of the program's stderr, or its exit code.
func (e *ExitError) Error() string {
	if e.Stderr == "" {
		return fmt.Sprintf("exit status %d", e.Code)
	}
	return e.Stderr
}

// failed is the exit code of ssh's own failures, and of a connection that ended before the program.
const failed = 255

// explain tells a failure of ssh and of sudo from that of the program.
func (c *Client) explain(stderr string, err error) error {
	exit, exited := errors.AsType[*exec.ExitError](err)
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return fault.Wrap(err, fault.MachineUnreachable, "Install the OpenSSH client: the program ssh, on PATH.")
	case !exited || exit.ExitCode() < 0: // it was not started, or a signal ended it
		return fault.Retryable(fmt.Errorf("ssh: %w", err), fault.MachineUnreachable, c.hint(stderr))
	case exit.ExitCode() == failed:
		return fault.Retryable(fmt.Errorf("ssh: %w", &ExitError{failed, stderr}), fault.MachineUnreachable,
			c.hint(stderr))
	case exit.ExitCode() == noRoot:
		return fault.Wrap(fmt.Errorf("become root there: %w", &ExitError{noRoot, stderr}), fault.MachineUnreachable,
			"Connect as root, or allow the user sudo without a password (NOPASSWD: ALL).")
	}
	return &ExitError{min(exit.ExitCode(), mostCode), stderr}
}

// hint says what to do about a connection that failed. ssh reports the cause only as text.
func (c *Client) hint(stderr string) string {
	low := strings.ToLower(stderr)
	switch {
	case strings.Contains(low, "host key verification failed"), strings.Contains(low, "host identification"):
		return "Compare the host key of the machine with its console, and accept it once: ssh " + c.Destination.text
	case strings.Contains(low, "permission denied"), strings.Contains(low, "too many authentication failures"):
		return "Have ssh log in without a password: load your key with ssh-add, or name it in ~/.ssh/config. Try it: " +
			"ssh -o BatchMode=yes " + c.Destination.text + " true"
	}
	return "Find out why ssh does not connect: ssh -v " + c.Destination.text + " true"
}

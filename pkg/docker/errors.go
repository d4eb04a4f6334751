package docker

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// ErrNotFound reports that the container, image, network or volume does not exist.
var ErrNotFound = errors.New("no such docker object")

// CommandError is a failed docker command. Its arguments contain no secrets: those go by environment or stdin.
type CommandError struct {
	Args     []string
	ExitCode int    // -1: the command did not run
	Stderr   string // the end of its stderr
	cause    error
}

// Error names the command and docker's own message.
func (e *CommandError) Error() string {
	detail := e.Stderr
	if detail == "" {
		detail = e.cause.Error()
	}
	return fmt.Sprintf("docker %s: %s", verb(e.Args), detail)
}

// Unwrap returns the error of the process.
func (e *CommandError) Unwrap() error { return e.cause }

const (
	hintNoCLI       = "Install the docker CLI and put it on PATH: kind needs it too."
	hintUnreachable = "Start the Docker engine, or select a running one with DOCKER_HOST or `docker context use`, " +
		"until `docker info` answers."
	hintPermission = "Add your user to the `docker` group and log in again, or run as root."
	hintPrivileged = "Use an engine that allows privileged containers, as kind's nodes are (no rootless sandbox, " +
		"no user namespace remapping)."
)

// classify turns a failed command into ErrNotFound, or into a fault with the code of its failure.
func classify(args []string, stderr string, err error) error {
	e := &CommandError{Args: args, ExitCode: exitCode(err), Stderr: stderr, cause: err}
	low := strings.ToLower(stderr)
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return fault.Wrap(e, fault.DockerUnreachable, hintNoCLI)
	case strings.Contains(low, "permission denied while trying to connect"):
		return fault.Wrap(e, fault.DockerUnreachable, hintPermission)
	case containsAny(low, "cannot connect to the docker daemon", "error during connect", "is the docker daemon running",
		"failed to connect to the docker api", "unable to resolve docker endpoint",
		"client sent an http request to an https server", "server gave http response to https client"):
		return fault.Wrap(e, fault.DockerUnreachable, hintUnreachable)
	case containsAny(low, "no such container", "no such image", "no such object", "no such volume", "no such network",
		"network not found", "could not find the file") ||
		(strings.Contains(low, "network ") && strings.Contains(low, " not found")):
		return fmt.Errorf("%w: %w", ErrNotFound, e)
	default:
		return fault.Wrap(e, fault.DockerFailed, "")
	}
}

// isBeingRemoved reports whether the engine refused to remove a container because it is already removing it.
func isBeingRemoved(err error) bool {
	var command *CommandError
	return errors.As(err, &command) && strings.Contains(command.Stderr, "is already in progress")
}

func containsAny(s string, parts ...string) bool {
	for _, part := range parts {
		if strings.Contains(s, part) {
			return true
		}
	}
	return false
}

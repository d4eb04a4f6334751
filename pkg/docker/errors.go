package docker

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// ErrNotFound says that the container, image, network or volume does not exist.
var ErrNotFound = errors.New("no such docker object")

// CommandError is a docker command that failed. Its arguments hold no secrets: those go by environment or stdin.
type CommandError struct {
	Args     []string
	ExitCode int    // -1: the command did not run
	Stderr   string // the end of what it wrote to stderr
	cause    error
}

// Error names the command and docker's own words.
func (e *CommandError) Error() string {
	detail := e.Stderr
	if detail == "" {
		detail = e.cause.Error()
	}
	return fmt.Sprintf("docker %s: %s", verb(e.Args), detail)
}

// Unwrap returns how the process ended.
func (e *CommandError) Unwrap() error { return e.cause }

const (
	hintNoCLI       = "install the docker CLI and put it on PATH; kind needs it too"
	hintUnreachable = "start the Docker engine, or point DOCKER_HOST or `docker context use` at one that runs; " +
		"`docker info` must answer"
	hintPermission = "add your user to the `docker` group (and log in again), or run as root"
	hintPrivileged = "kind's nodes are privileged containers: use an engine that allows them (no rootless sandbox, " +
		"no user namespace remapping)"
)

// classify turns a failed command into a fault that says which kind of failure it is.
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
		"network not found") || (strings.Contains(low, "network ") && strings.Contains(low, " not found")):
		return fmt.Errorf("%w: %w", ErrNotFound, e)
	default:
		return fault.Wrap(e, fault.DockerFailed, "")
	}
}

// isBeingRemoved reports whether the engine did not remove a container because it is at it already.
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

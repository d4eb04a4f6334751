// Package container runs the daemons of the OpenStack lab: each is a container of one image, with the host's network.
package container

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"

	"github.com/cluster-init/cluster-init/e2e/lab/host"
)

const (
	// label has the name of a daemon as its value.
	label = "cluster-init.io/openstack-lab"
	// shares is the CPU weight of a daemon. The machines have 1024: all daemons together must not starve them.
	shares = "256"
	// grace is how many seconds a stopped daemon gets before the engine kills it.
	grace = "15"
)

// Daemon is one program that runs until it is stopped.
type Daemon struct {
	Name string
	Args []string // the program, with its full path, and its arguments; nothing secret
	Env  []string // all of its environment
	// Listen are the addresses (host:port) that it is going to open. Start refuses when another program has one.
	Listen []string
	// Signal asks it to end; "" is SIGTERM.
	Signal string
	// Mounts are paths of the host that it has besides the engine's, at the same place or as FROM:TO.
	Mounts []string
	// OnHost gives it the host's processes, and lets it change the host's network.
	OnHost bool
}

// Engine runs daemons in the Docker engine of this machine.
type Engine struct {
	Image string // of all daemons
	// Mounts are paths of the host that all daemons have, at the same place. The first one is their working directory.
	Mounts []string
}

// Start starts a daemon unless it runs. When Start returns, the daemon is not yet ready.
func (e Engine) Start(ctx context.Context, daemon Daemon) error {
	if running, err := isRunning(ctx, daemon.Name); err != nil || running {
		return err
	}
	if err := e.Clear(ctx, daemon); err != nil {
		return err
	}
	_, err := docker(ctx, environmentOf(daemon), e.run(daemon, "--detach")...)
	return err
}

// Run runs a program to its end, within ctx. What an interrupted Run left is removed first.
func (e Engine) Run(ctx context.Context, program Daemon) error {
	if err := Stop(ctx, program.Name); err != nil {
		return err
	}
	_, err := docker(ctx, environmentOf(program), e.run(program)...)
	if stopErr := Stop(context.WithoutCancel(ctx), program.Name); err == nil {
		err = stopErr
	}
	return err
}

// Clear makes sure that nothing is in the way of a daemon that does not run: it removes one that has ended, and fails
// when another program has one of its addresses.
func (e Engine) Clear(ctx context.Context, daemon Daemon) error {
	if running, err := isRunning(ctx, daemon.Name); err != nil || running {
		return err
	}
	if err := Stop(ctx, daemon.Name); err != nil {
		return err
	}
	for _, address := range daemon.Listen {
		if err := free(ctx, address); err != nil {
			return fmt.Errorf("start %s: %w", daemon.Name, err)
		}
	}
	return nil
}

// run returns the arguments of `docker run`. The environment is read from stdin: everyone can see arguments.
func (e Engine) run(daemon Daemon, options ...string) []string {
	args := append([]string{"run", "--name", name(daemon.Name), "--label", label + "=" + daemon.Name, "--network",
		"host", "--cpu-shares", shares, "--log-opt", "max-size=10m", "--workdir", e.Mounts[0], "--env-file",
		"/dev/stdin"}, options...)
	if daemon.Signal != "" {
		args = append(args, "--stop-signal", daemon.Signal)
	}
	if daemon.OnHost {
		args = append(args, "--privileged", "--pid", "host")
	}
	for _, path := range append(e.Mounts[:len(e.Mounts):len(e.Mounts)], daemon.Mounts...) {
		if !strings.Contains(path, ":") {
			path += ":" + path
		}
		args = append(args, "--volume", path)
	}
	return append(append(args, "--entrypoint", daemon.Args[0], e.Image), daemon.Args[1:]...)
}

func environmentOf(daemon Daemon) []byte { return []byte(strings.Join(daemon.Env, "\n") + "\n") }

// name is the name of a daemon's container.
func name(daemon string) string { return "cluster-init-openstack-" + daemon }

// docker runs one command of the docker CLI and returns what it wrote.
func docker(ctx context.Context, stdin []byte, args ...string) (string, error) {
	return host.Run(ctx, host.Command{Name: "docker", Args: args, Stdin: stdin})
}

// Exec runs a program in the container of a daemon, with stdin.
func Exec(ctx context.Context, daemon string, stdin []byte, args ...string) error {
	_, err := docker(ctx, stdin, append([]string{"exec", "--interactive", name(daemon)}, args...)...)
	return err
}

// free reports whether the address has no listener yet.
func free(ctx context.Context, address string) error {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if errors.Is(err, syscall.EADDRNOTAVAIL) { // this machine does not have the address yet
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s cannot be listened on, another program may have it: %w", address, err)
	}
	return listener.Close()
}

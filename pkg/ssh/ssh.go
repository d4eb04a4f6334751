// Package ssh runs programs on another machine through the OpenSSH client. It honors the user's own configuration,
// agent, jump hosts and known_hosts, and reaches everything that the user's own `ssh` reaches.
package ssh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/output"
)

// Client runs programs on one machine. Its Destination must come from Parse.
type Client struct {
	Destination Destination
	// Binary is the client to run; empty means the `ssh` on PATH.
	Binary string
}

const (
	// outputBytes limits the output of a program: far more than a manifest.
	outputBytes = 1 << 20
	// stderrBytes limits what is kept of stderr.
	stderrBytes = 16 << 10
	// waitDelay is how long to wait for a killed ssh: its proxy command may keep its output open.
	waitDelay = 2 * time.Second
)

// options are those of each connection. They take precedence over the user's configuration. Host keys are checked as
// that says.
func options() []string {
	settings := []string{
		"BatchMode=yes",          // never asks for a password, a passphrase or a host key
		"ConnectTimeout=20",      // seconds
		"ServerAliveInterval=15", // seconds; a machine that ends is noticed after four of them
		"ServerAliveCountMax=4",
		"ClearAllForwardings=yes",
		"ControlPersist=no", // a process in the background would keep stderr open
		"RemoteCommand=none",
		"LogLevel=ERROR", // without the banner, which would hide the cause of an error
	}
	args := []string{"-T", "-a", "-x"}
	for _, setting := range settings {
		args = append(args, "-o", setting)
	}
	return args
}

// Run runs a program as root: directly if the user is root, else with sudo, which must not ask for a password. It
// returns what the program writes to stdout. stdin may be nil. It must not block. Do not put secrets into args.
//
// A failure of ssh or of sudo has the code fault.MachineUnreachable. That of the program is an *ExitError, without a
// code. Both have the end of stderr.
func (c *Client) Run(ctx context.Context, stdin io.Reader, args ...string) (string, error) {
	if c.Destination.text == "" {
		return "", errors.New("run a program with ssh: no destination is given")
	}
	line, err := commandLine(args)
	if err != nil {
		return "", fmt.Errorf("run a program on %s: %w", c.Destination, err)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	// ssh reads options after the destination, too: the line begins with "sh".
	cmd := exec.CommandContext(ctx, c.binary(), append(options(), "--", c.Destination.text, line)...)
	// beyond the limit it stops ssh, which would wait for a machine that writes without end
	out := &output.Whole{Limit: outputBytes, Exceeded: func() { stop(output.ErrTooLong) }}
	stderr := &output.Tail{Limit: stderrBytes}
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = stdin, out, stderr, waitDelay
	err = cmd.Run()
	switch {
	case err == nil:
		return out.String(), nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded): // a machine that hangs answers ssh's own questions
		err = fault.Retryable(context.Cause(ctx), fault.MachineUnreachable, c.hint(""))
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	default:
		err = c.explain(strings.TrimSpace(stderr.String()), err)
	}
	return "", fmt.Errorf("run %s on %s: %w", args[0], c.Destination, err)
}

// String is the destination.
func (c *Client) String() string { return c.Destination.text }

func (c *Client) binary() string {
	if c.Binary != "" {
		return c.Binary
	}
	return "ssh"
}

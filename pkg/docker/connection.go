package docker

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"time"
)

// connection is a connection to the engine's API that the docker CLI makes, as it does for an engine behind ssh:
// contexts, DOCKER_HOST and certificates work as for everything else.
type connection struct {
	io.Reader
	io.WriteCloser
	cmd  *exec.Cmd
	said *tail
	end  func() // once
}

// connect makes a connection that ends with ctx.
func (c *Client) connect(ctx context.Context) (*connection, error) {
	cmd := exec.CommandContext(ctx, c.binary(), "system", "dial-stdio")
	cmd.Env = append(os.Environ(), c.Env...)
	said := &tail{limit: 4 << 10}
	cmd.Stderr = said
	cmd.WaitDelay = waitDelay
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("docker system dial-stdio: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("docker system dial-stdio: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, classify(cmd.Args[1:], "", err)
	}
	return &connection{Reader: out, WriteCloser: in, cmd: cmd, said: said, end: sync.OnceFunc(func() {
		_ = in.Close()
		_ = cmd.Process.Kill() // it is not needed any more
		_ = cmd.Wait()         // that it was killed is expected
	})}, nil
}

// Close ends the connection, and returns when its process has ended.
func (c *connection) Close() error {
	c.end()
	return nil
}

// lastWords returns the error output of the process once it has ended, or nil.
func (c *connection) lastWords() error {
	if text := c.said.String(); text != "" {
		return classify(c.cmd.Args[1:], text, nil)
	}
	return nil
}

// LocalAddr and RemoteAddr name no address: there is none.
func (c *connection) LocalAddr() net.Addr  { return &net.UnixAddr{Name: "docker", Net: "unix"} }
func (c *connection) RemoteAddr() net.Addr { return c.LocalAddr() }

// A pipe to a process has no deadlines: its context bounds it.
func (c *connection) SetDeadline(time.Time) error      { return nil }
func (c *connection) SetReadDeadline(time.Time) error  { return nil }
func (c *connection) SetWriteDeadline(time.Time) error { return nil }

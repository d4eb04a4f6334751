package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// maxTunnels is the maximum number of connections of one Tunnel to one host name. Each is a `docker exec` process.
const maxTunnels = 4

// Tunnel is an http.RoundTripper whose connections are processes that join stdin and stdout to the registry's socket,
// whatever the request's host is. It works wherever `docker exec` works, and needs no published port and no password.
// Close ends its processes.
type Tunnel struct {
	command   func() *exec.Cmd
	transport *http.Transport
	end       context.CancelFunc
}

// NewTunnel makes a tunnel of command, which starts one process per connection. Connections are kept and reused. All
// end with ctx or Close.
func NewTunnel(ctx context.Context, command func(context.Context) *exec.Cmd) *Tunnel {
	// The processes outlive the request that dialled: only ctx ends them.
	ctx, end := context.WithCancel(ctx)
	t := &Tunnel{command: func() *exec.Cmd { return command(ctx) }, end: end}
	t.transport = &http.Transport{
		DialContext:         t.dial,
		MaxConnsPerHost:     maxTunnels,
		MaxIdleConnsPerHost: maxTunnels,
		IdleConnTimeout:     time.Minute,
	}
	return t
}

// RoundTrip sends one request. The tunnel itself is the protection, so https becomes plain http inside.
func (t *Tunnel) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme == "https" {
		req = req.Clone(req.Context())
		req.URL.Scheme = "http"
	}
	return t.transport.RoundTrip(req)
}

// Close ends all connections and their processes.
func (t *Tunnel) Close() {
	t.transport.CloseIdleConnections()
	t.end()
}

// dial starts one process.
func (t *Tunnel) dial(context.Context, string, string) (net.Conn, error) {
	cmd := t.command()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	conn := &pipeConn{cmd: cmd, stdin: stdin, stdout: stdout}
	cmd.Stderr = &conn.stderr
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the tunnel to the registry: %w", err)
	}
	return conn, nil
}

// pipeConn is a net.Conn over the stdin and stdout of a process.
type pipeConn struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.ReadCloser
	stderr syncBuffer
	once   sync.Once
}

// Read reads what the process writes. If the stream ends before Close, the error has the process's stderr.
func (c *pipeConn) Read(p []byte) (int, error) {
	n, err := c.stdout.Read(p)
	if errors.Is(err, io.EOF) && n == 0 {
		_ = c.Close() // its stdout ends with the process: once that is reaped, its stderr is complete
		if said := c.stderr.String(); said != "" {
			return 0, fmt.Errorf("the tunnel to the registry ended: %s: %w", said, io.ErrUnexpectedEOF)
		}
	}
	return n, err
}

// Write writes to the process.
func (c *pipeConn) Write(p []byte) (int, error) { return c.stdin.Write(p) }

// Close ends the process and reaps it.
func (c *pipeConn) Close() error {
	c.once.Do(func() {
		_ = c.stdin.Close()
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
	})
	return nil
}

// pipeAddr is the address of both ends.
type pipeAddr struct{}

func (pipeAddr) Network() string { return "exec" }
func (pipeAddr) String() string  { return "registry" }

// LocalAddr, RemoteAddr and the deadlines complete net.Conn. The transport sets no deadlines: a request ends with
// its context, which closes the connection.
func (c *pipeConn) LocalAddr() net.Addr              { return pipeAddr{} }
func (c *pipeConn) RemoteAddr() net.Addr             { return pipeAddr{} }
func (c *pipeConn) SetDeadline(time.Time) error      { return nil }
func (c *pipeConn) SetReadDeadline(time.Time) error  { return nil }
func (c *pipeConn) SetWriteDeadline(time.Time) error { return nil }

// syncBuffer collects the beginning of a process's stderr while another goroutine reads it.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.buf.Len() > 4<<10 {
		return len(p), nil
	}
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.TrimSpace(b.buf.String())
}

package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
)

// Dial joins in and out to the registry's socket until either side ends. `registry dial` runs it inside the container,
// as the far end of the tunnel.
func Dial(ctx context.Context, in io.Reader, out io.Writer) error {
	return dial(ctx, socketPath, in, out)
}

func dial(ctx context.Context, socket string, in io.Reader, out io.Writer) error {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", socket)
	if err != nil {
		return fmt.Errorf("registry: %w", err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()

	go func() {
		_, _ = io.Copy(conn, in)
		if half, ok := conn.(*net.UnixConn); ok {
			_ = half.CloseWrite() // the server answers the requests in flight, then closes
		}
	}()
	if _, err := io.Copy(out, conn); err != nil && ctx.Err() == nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("registry: %w", err)
	}
	return nil
}

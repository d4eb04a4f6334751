package kube

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http/httptrace"
	"sync/atomic"
)

// handshake records how far a request got with its connection.
type handshake struct{ begun, ended atomic.Bool }

// followed returns a context whose requests are recorded.
func (h *handshake) followed(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		TLSHandshakeStart: func() { h.begun.Store(true) },
		TLSHandshakeDone:  func(_ tls.ConnectionState, err error) { h.ended.Store(err == nil) },
	})
}

// explain adds to the error of a request without an answer that it got no further than the TLS handshake, if so: then a
// server accepts connections at that address, which a plain timeout does not show.
func (h *handshake) explain(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil || !h.begun.Load() || h.ended.Load() {
		return err
	}
	return fmt.Errorf("the connection was made, and its TLS handshake had no answer: %w", err)
}

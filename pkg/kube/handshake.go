package kube

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http/httptrace"
	"sync/atomic"
)

// handshake follows how far a request came before it had its connection.
type handshake struct{ begun, ended atomic.Bool }

// followed returns a context whose requests are followed.
func (h *handshake) followed(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		TLSHandshakeStart: func() { h.begun.Store(true) },
		TLSHandshakeDone:  func(_ tls.ConnectionState, err error) { h.ended.Store(err == nil) },
	})
}

// explain says of a request that had no answer in time that it came no further than the handshake, if so: then somebody
// takes connections at that address, which a plain timeout does not show.
func (h *handshake) explain(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil || !h.begun.Load() || h.ended.Load() {
		return err
	}
	return fmt.Errorf("the connection was made, and its TLS handshake had no answer: %w", err)
}

package kube

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"time"
)

// unanswered is how long a request without a response shows that its connection is of no use.
const unanswered = 5 * time.Second

// reconnectingTransport closes the connection of a request that timed out without a response, so that the next request
// makes a new one. A load balancer keeps a connection with the API server that it was made to. That server answers the
// pings of HTTP/2, but no request, when it has lost its etcd: for as long as the machine of a former control plane
// still runs.
type reconnectingTransport struct {
	next http.RoundTripper
	// after is the shortest wait of a request that counts: its caller may have had little time left.
	after time.Duration
}

// RoundTrip passes the request on.
func (t reconnectingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if isPassedOn(r.URL.Path) {
		return t.next.RoundTrip(r)
	}
	used := &usedConnection{}
	begun := time.Now()
	answer, err := t.next.RoundTrip(r.WithContext(httptrace.WithClientTrace(r.Context(),
		&httptrace.ClientTrace{GotConn: used.note})))
	if err != nil && errors.Is(r.Context().Err(), context.DeadlineExceeded) && time.Since(begun) >= t.after {
		used.close()
	}
	return answer, err
}

// isPassedOn reports whether the API server passes a request on to a kubelet or a Pod: their silence is not its own.
func isPassedOn(path string) bool {
	return slices.ContainsFunc(strings.Split(path, "/"), func(part string) bool {
		return slices.Contains([]string{"log", "proxy", "exec", "attach", "portforward"}, part)
	})
}

// usedConnection is the connection that a request was last sent on.
type usedConnection struct {
	mu   sync.Mutex
	conn net.Conn
}

func (u *usedConnection) note(got httptrace.GotConnInfo) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.conn = got.Conn
}

func (u *usedConnection) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.conn != nil {
		_ = u.conn.Close() // the request has its error already
	}
}

package kube

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

type connectionKey struct{}

// A server that a load balancer has left behind answers pings and no request. A request that times out there makes the
// next one use a new connection, and ends the watches that are silent with it. One whose caller had no time does not.
func TestUnansweredRequestEndsItsConnection(t *testing.T) {
	for name, tc := range map[string]struct {
		after time.Duration
		path  string
		ends  bool
	}{"waited long enough": {50 * time.Millisecond, "/api/v1/nodes", true},
		"had no time":        {time.Hour, "/api/v1/nodes", false},
		"a kubelet's answer": {50 * time.Millisecond, "/api/v1/namespaces/a/pods/b/log", false}} {
		t.Run(name, func(t *testing.T) {
			address, client, asked := formerServer(t, tc.after)
			watch := make(chan error, 1)
			silent, stop := context.WithTimeout(t.Context(), 10*time.Second)
			defer stop()
			go func() { watch <- get(silent, client, address) }()
			<-asked
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			if err := get(ctx, client, address+tc.path); err == nil {
				t.Error("the former server answered")
			}
			cancel()
			ctx, cancel = context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			if err := get(ctx, client, address); (err == nil) != tc.ends {
				t.Errorf("the next request: %v", err)
			}
			if !tc.ends {
				stop()
			}
			if err := <-watch; err == nil || tc.ends && silent.Err() != nil {
				t.Errorf("the watch: %v", err)
			}
		})
	}
}

// formerServer is a server whose first connection answers no request, a client that has the transport, and what that
// server was asked.
func formerServer(t *testing.T, after time.Duration) (string, *http.Client, <-chan struct{}) {
	t.Helper()
	asked := make(chan struct{}, 10)
	var mu sync.Mutex
	connections := 0
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Context().Value(connectionKey{}) == 1 {
			asked <- struct{}{}
			<-r.Context().Done()
		}
	}))
	s.EnableHTTP2 = true
	s.Config.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
		mu.Lock()
		defer mu.Unlock()
		connections++
		return context.WithValue(ctx, connectionKey{}, connections)
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	transport := &http.Transport{ForceAttemptHTTP2: true,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // the test's own server
	t.Cleanup(transport.CloseIdleConnections)
	return s.URL, &http.Client{Transport: reconnectingTransport{transport, after}}, asked
}

func get(ctx context.Context, client *http.Client, address string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

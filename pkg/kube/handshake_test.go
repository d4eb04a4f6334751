package kube_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/cluster-init/cluster-init/pkg/kube"
)

// An address that takes connections and then says nothing is distinguished from one without a listener, and from a server
// that is slow.
func TestReachableTellsHowFarItCame(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var taken sync.WaitGroup
	taken.Go(func() {
		for {
			c, err := silent.Accept()
			if err != nil {
				return
			}
			defer func() { _ = c.Close() }()
		}
	})
	t.Cleanup(func() { _ = silent.Close(); taken.Wait() })
	slow := httptest.NewTLSServer(http.HandlerFunc(
		func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(slow.Close)
	for name, tc := range map[string]struct {
		address   string
		handshake bool
	}{
		"takes connections only": {silent.Addr().String(), true},
		"slow":                   {slow.Listener.Addr().String(), false},
		"no listener":            {"127.0.0.1:1", false},
	} {
		c, err := kube.Connect("management",
			fmt.Appendf(
				nil,
				`{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}],
clusters: [{name: c, cluster: {server: "https://%s", insecure-skip-tls-verify: true}}], users: [{name: u, user: {token: t}}]}`, tc.address), runtime.NewScheme())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		err = c.Reachable(ctx)
		cancel()
		if err == nil || strings.Contains(err.Error(), "TLS handshake had no answer") != tc.handshake {
			t.Errorf("%s: %v", name, err)
		}
	}
}

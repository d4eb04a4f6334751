package readiness

import (
	"context"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/cluster-init/cluster-init/pkg/kube"
)

// An API server that never answers the upgrade, or answers it and is silent then, does not block the check of etcd: it
// ends with its context, and says that nothing is known.
func TestASilentAPIServerEndsTheCheckOfEtcd(t *testing.T) {
	upgraded := func(w http.ResponseWriter, r *http.Request) {
		sum := sha1.Sum([]byte(r.Header.Get("Sec-Websocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
		connection, out, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer connection.Close()
		_, _ = fmt.Fprintf(out, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
			"Sec-WebSocket-Accept: %s\r\nSec-WebSocket-Protocol: %s\r\n\r\n",
			base64.StdEncoding.EncodeToString(sum[:]), r.Header.Get("Sec-Websocket-Protocol"))
		_ = out.Flush()
		_, _ = io.Copy(io.Discard, connection) // until the client closes it
	}
	for name, silent := range map[string]bool{"before the upgrade": true, "after it": false} {
		t.Run(name, func(t *testing.T) {
			pod := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod",
				"metadata": map[string]any{"namespace": "kube-system", "name": "etcd-cp"}}}
			ended := make(chan struct{})
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !silent {
					upgraded(w, r)
					return
				}
				<-ended
			}))
			defer server.Close()
			defer close(ended)
			o := &observing{Cluster: &kube.Cluster{Name: "management", Config: &rest.Config{Host: server.URL}}}
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			done := make(chan struct{})
			go func() {
				defer close(done)
				o.etcdHealth(ctx, pod)
			}()
			select {
			case <-done:
			case <-time.After(5 * time.Second):
				t.Fatal("the check of etcd does not end with its context")
			}
			if len(o.seen.Probes) > 0 || len(o.seen.NotChecked) != 1 ||
				!strings.HasPrefix(o.seen.NotChecked[0], "the health of etcd by Pod/kube-system/etcd-cp") {
				t.Errorf("probes %v, not checked %q", o.seen.Probes, o.seen.NotChecked)
			}
		})
	}
}

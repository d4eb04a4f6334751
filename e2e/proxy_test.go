//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// TestMatrixProxy builds a management cluster behind a proxy that refuses addresses of the clusters, as those of
// companies do. All comes from the bundle, so no client needs the proxy. None may ask it for what is
// inside.
func TestMatrixProxy(t *testing.T) {
	l := newLab(t)
	cleanBefore(t, l)
	proxy := newForwardProxy()
	const password = "pr0xy-s3cret"
	address := "http://tester:" + password + "@" + expose(t, proxy)
	up := []string{"up", environmentName, "--bundle", l.bundle, "--set", "proxies.http_proxy=" + address, "--set",
		"proxies.https_proxy=" + address, "--values", valuesFile(t, machineSettings())}
	looked := false
	e := l.signalAt(t, os.Interrupt, func(e event.Event) bool {
		if e.Type == event.PhaseStarted && e.Phase == "management-flux" && !looked {
			looked = true
			pullsThrough(t, bootstrapNode, address)
		}
		return false
	}, up...)
	proxy.wasAskedForOutside(t)
	if e.exitCode != 0 {
		t.Fatalf("up ended with %d: %+v", e.exitCode, e.failure)
	}
	management := l.management(t)
	l.built(t, management)
	hasMachineSettings(t, controlPlane(t, l.name))
	for _, machine := range machines(t) {
		pullsThrough(t, machine, address)
	}
	t.Run("its password is in Secrets only", func(t *testing.T) {
		management.holdsInSecretsOnly(t, password, "capi-system/telco-cloud-init-proxies",
			"cert-manager/telco-cloud-init-proxies",
			"management/telco-cloud-init-machine-proxies", flux.Namespace+"/"+environment.InfraSecretsName)
	})
	t.Run("up again changes nothing", func(t *testing.T) { l.idle(t, management, up) })
	t.Run("what is outside is asked of the proxy", func(t *testing.T) {
		const outside = "outside.example"
		source := object("source.toolkit.fluxcd.io/v1", "OCIRepository", "default", "outside",
			map[string]any{"url": "oci://" + outside + "/content", "interval": "1h", "insecure": true,
				"ref": map[string]any{"tag": "v1"}})
		if err := management.ApplyAll(t.Context(), source); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the proxy is asked for "+outside, 2*time.Minute, func(context.Context) bool {
			return slices.ContainsFunc(proxy.requests(), func(r proxyRequest) bool { return r.host == outside })
		})
	})
	proxy.wasAskedForOutside(t)
}

// pullsThrough fails the test unless containerd of a node was started with the proxy, and with a list of what is
// reached without one.
func pullsThrough(t *testing.T, node, proxy string) {
	t.Helper()
	variables := strings.Split(docker(t, "exec", node, "sh", "-c",
		`cat /proc/$(systemctl show --property=MainPID --value containerd)/environ`), "\x00")
	for _, want := range []string{"HTTP_PROXY=" + proxy, "HTTPS_PROXY=" + proxy} {
		if !slices.Contains(variables, want) {
			t.Errorf("containerd of %s runs without %s: %q", node, want, variables)
		}
	}
	if !slices.ContainsFunc(variables, func(v string) bool {
		return strings.HasPrefix(v, "NO_PROXY=") && strings.Contains(v, owned.Registry(environmentName))
	}) {
		t.Errorf("containerd of %s asks the proxy for the registry of the clusters: %q", node, variables)
	}
}

// forwardProxy is a proxy for plain requests and, by CONNECT, for all others. It refuses what is inside the clusters or
// on this machine, and remembers what it was asked for.
type forwardProxy struct {
	plain *httputil.ReverseProxy

	mu    sync.Mutex
	asked []proxyRequest
}

// proxyRequest is what the proxy was asked for. client is how the client calls itself, which it does for plain requests
// only.
type proxyRequest struct{ method, host, client string }

func newForwardProxy() *forwardProxy {
	return &forwardProxy{plain: &httputil.ReverseProxy{
		Rewrite:   func(*httputil.ProxyRequest) {}, // the address is in the request
		Transport: &http.Transport{},
		ErrorLog:  log.New(io.Discard, "", 0),
	}}
}

// ServeHTTP does what the client asks for, if that is outside.
func (p *forwardProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host := hostOf(r.URL.Host)
	p.mu.Lock()
	p.asked = append(p.asked, proxyRequest{r.Method, host, r.UserAgent()})
	p.mu.Unlock()
	switch {
	case host == "":
		http.Error(w, "this is a proxy", http.StatusBadRequest)
	case isInside(host):
		http.Error(w, "addresses of the inside are refused here", http.StatusForbidden)
	case r.Method == http.MethodConnect:
		tunnel(w, r)
	default:
		p.plain.ServeHTTP(w, r)
	}
}

// tunnel joins the client to the address that it asks for.
func tunnel(w http.ResponseWriter, r *http.Request) {
	var d net.Dialer
	there, err := d.DialContext(r.Context(), "tcp", r.URL.Host)
	if err != nil {
		http.Error(w, "the address does not answer", http.StatusBadGateway)
		return
	}
	defer there.Close()
	here, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	sent := make(chan struct{})
	if _, err := fmt.Fprint(here, "HTTP/1.1 200 Connection established\r\n\r\n"); err == nil {
		go func() {
			defer close(sent)
			_, _ = io.Copy(there, buffered)
			_ = there.(*net.TCPConn).CloseWrite()
		}()
		_, _ = io.Copy(here, there)
	} else {
		close(sent)
	}
	_ = here.Close()
	<-sent
}

// requests returns all that the proxy was asked for.
func (p *forwardProxy) requests() []proxyRequest {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked)
}

// wasAskedForOutside fails the test for each request for something inside, and for each plain one of a client that need
// not ask.
func (p *forwardProxy) wasAskedForOutside(t *testing.T) {
	t.Helper()
	for _, r := range p.requests() {
		t.Logf("the proxy was asked: %s %s by %q", r.method, r.host, r.client)
		if isInside(r.host) {
			t.Errorf("the proxy was asked for %s by %q (%s)", r.host, r.client, r.method)
		}
		fetches := func(name string) bool { return strings.HasPrefix(strings.ToLower(r.client), name) }
		if r.method != http.MethodConnect &&
			!slices.ContainsFunc([]string{"flux/", "go-containerregistry", "containerd/"}, fetches) {
			t.Errorf("the proxy was asked for %s by %q, which fetches nothing", r.host, r.client)
		}
	}
}

// isInside reports whether a host is in a cluster, or in a network of the Docker engine.
func isInside(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if address, err := netip.ParseAddr(host); err == nil {
		return slices.ContainsFunc([]string{"10.96.0.0/16", "10.244.0.0/16", "127.0.0.0/8", "172.16.0.0/12",
			"192.168.0.0/16", "::1/128", "fc00::/7"}, func(network string) bool {
			return netip.MustParsePrefix(network).Contains(address.Unmap())
		})
	}
	if slices.Contains([]string{"localhost", "kubernetes", "kubernetes.default", owned.Registry(environmentName)},
		host) {
		return true
	}
	return strings.HasSuffix(host, ".svc") || strings.HasSuffix(host, ".cluster.local")
}

// hostOf is an address without its port.
func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return strings.Trim(address, "[]")
}

//go:build integration

package apiserver

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Proxy passes requests on to a Server, as its administrator, and injects the requested faults.
type Proxy struct {
	front *httptest.Server

	mu      sync.Mutex
	writes  int // so far
	fails   int // the number of the write that fails; 0: none
	hangs   bool
	asked   int // whether the server is ready, since it hangs
	watches map[string][]context.CancelFunc
	opened  map[string]int // how many watches of each resource there were
}

// NewProxy starts a proxy before s. Close it.
func NewProxy(s *Server) (*Proxy, error) {
	target, err := url.Parse(s.env.Config.Host)
	if err != nil {
		return nil, err
	}
	transport, err := rest.TransportFor(s.env.Config)
	if err != nil {
		return nil, err
	}
	if target.Scheme == "" || target.Host == "" {
		target = &url.URL{Scheme: "https", Host: s.env.Config.Host}
	}
	p := &Proxy{watches: map[string][]context.CancelFunc{}, opened: map[string]int{}}
	backend := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     transport,
		FlushInterval: -1, // a watch's events at once
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	p.front = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case p.hanging(r.URL.Path):
			<-r.Context().Done()
			return
		case r.URL.Query().Get("watch") == "true":
			ctx, cancel := context.WithCancel(r.Context())
			defer cancel()
			p.open(resourceOf(r.URL.Path), cancel)
			r = r.WithContext(ctx)
		case r.Method != http.MethodGet && p.failsNow():
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprint(
				w,
				`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"etcdserver: request timed out","reason":"InternalError","code":500}`)
			return
		}
		backend.ServeHTTP(w, r)
	}))
	return p, nil
}

// Kubeconfig returns a kubeconfig that goes through the proxy.
func (p *Proxy) Kubeconfig() ([]byte, error) {
	config := clientcmdapi.NewConfig()
	config.Clusters["proxy"] = &clientcmdapi.Cluster{Server: p.front.URL}
	config.Contexts["proxy"] = &clientcmdapi.Context{Cluster: "proxy"}
	config.CurrentContext = "proxy"
	return clientcmd.Write(*config)
}

// FailWrite makes the n-th write from now on, counted from 1, fail with the status 500.
func (p *Proxy) FailWrite(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fails = p.writes + n
}

// Hang takes each request from now on and answers none, as a machine does that is paused.
func (p *Proxy) Hang() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hangs = true
}

// Asked returns how often it was asked whether the server is ready, since it hangs.
func (p *Proxy) Asked() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked
}

// CutWatches breaks the connection of all watches of a resource, such as "kustomizations".
func (p *Proxy) CutWatches(resource string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, cut := range p.watches[resource] {
		cut()
	}
	p.watches[resource] = nil
}

// Watches returns how many watches of a resource were opened so far.
func (p *Proxy) Watches(resource string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.opened[resource]
}

// Close ends the proxy and all that goes through it.
func (p *Proxy) Close() {
	p.front.CloseClientConnections()
	p.front.Close()
}

func (p *Proxy) open(resource string, cut context.CancelFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.opened[resource]++
	p.watches[resource] = append(p.watches[resource], cut)
}

func (p *Proxy) hanging(path string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hangs && path == "/readyz" {
		p.asked++
	}
	return p.hangs
}

func (p *Proxy) failsNow() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.writes++
	return p.writes == p.fails
}

// resourceOf is the last part of the path of a list or watch.
func resourceOf(path string) string { return path[strings.LastIndex(path, "/")+1:] }

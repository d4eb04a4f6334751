//go:build openstack

package cleanup

import (
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// proxy is an HTTP proxy between the binary and the cloud. It makes the first deletion of many resources fail, each in
// one of the ways in which clouds fail, and from some request on it takes the token of the first requests for ended. Or
// it makes no faults, and tells when a request comes.
type proxy struct {
	*httptest.Server
	random      *rand.Rand // nil: no faults
	expireAfter int        // requests
	await       moment
	came        chan struct{} // closed as the awaited request comes

	mu     sync.Mutex
	seen   moment
	token  string          // that ends half-way
	failed map[string]bool // resources whose deletion failed once
	faults map[string]int  // how often each fault was made
	hung   int
}

// moment is when so many requests have come, so many of which delete something.
type moment struct{ requests, deletions int }

// mostHung bounds how many requests get no answer: each costs the whole time that the client waits.
const mostHung = 3

func newProxy(t *testing.T, seed uint64, expireAfter int) *proxy {
	return serve(t, &proxy{random: rand.New(rand.NewPCG(seed, seed)), expireAfter: expireAfter})
}

// newWatch passes everything on, and closes came at a moment.
func newWatch(t *testing.T, at moment) *proxy {
	return serve(t, &proxy{await: at})
}

func serve(t *testing.T, p *proxy) *proxy {
	p.came, p.failed, p.faults = make(chan struct{}), map[string]bool{}, map[string]int{}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.CloseClientConnections)
	t.Cleanup(p.Close)
	return p
}

// ServeHTTP passes a request on, or fails it.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	fault := p.fault(r, string(body))
	switch fault {
	case "401":
		answerWith(w, http.StatusUnauthorized,
			`{"error": {"message": "The request you have made requires authentication."}}`)
		return
	case "409":
		answerWith(w, http.StatusConflict,
			`{"NeutronError": {"type": "InUse", "message": "made by the test: in use", "detail": ""}}`)
		return
	case "500":
		answerWith(w, http.StatusInternalServerError,
			`{"computeFault": {"code": 500, "message": "made by the test: unexpected"}}`)
		return
	case "504":
		answerWith(w, http.StatusGatewayTimeout, "<html>made by the test</html>")
		return
	case "hang":
		<-r.Context().Done()
		return
	}
	out, err := http.NewRequestWithContext(r.Context(), r.Method, r.URL.String(), strings.NewReader(string(body)))
	if err != nil {
		return
	}
	out.Header = r.Header.Clone()
	answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(out)
	if err != nil {
		answerWith(w, http.StatusBadGateway, err.Error())
		return
	}
	defer answer.Body.Close()
	if fault == "cut" { // the cloud did it, and no answer arrives
		panic(http.ErrAbortHandler)
	}
	for name, values := range answer.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.StatusCode)
	_, _ = io.Copy(w, answer.Body)
}

func answerWith(w http.ResponseWriter, code int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, body)
}

// fault decides what becomes of a request. Empty means it is passed on.
func (p *proxy) fault(r *http.Request, body string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	deletes := r.Method == http.MethodDelete || strings.HasSuffix(r.URL.Path, "/remove_router_interface")
	p.count(deletes)
	token := r.Header.Get("X-Auth-Token")
	if p.token == "" {
		p.token = token
	}
	if p.expireAfter > 0 && p.seen.requests > p.expireAfter && token == p.token && token != "" {
		p.faults["401"]++
		return "401"
	}
	resource := r.URL.Path + body
	if !deletes || p.random == nil || p.failed[resource] {
		return ""
	}
	p.failed[resource] = true
	fault := []string{"", "409", "500", "504", "cut", "hang"}[p.random.IntN(6)]
	if fault == "hang" {
		if p.hung++; p.hung > mostHung {
			fault = "409"
		}
	}
	if fault != "" {
		p.faults[fault]++
	}
	return fault
}

// count counts a request, and tells when it is the awaited one.
func (p *proxy) count(deletes bool) {
	before := p.seen
	p.seen.requests++
	if deletes {
		p.seen.deletions++
	}
	reached := func(m moment) bool { return m.requests >= p.await.requests && m.deletions >= p.await.deletions }
	if reached(p.seen) && !reached(before) {
		close(p.came)
	}
}

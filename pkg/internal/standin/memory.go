package standin

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/cluster-init/cluster-init/pkg/openstack"
)

// Memory is a cloud in memory: it maps "METHOD /service/path?query" to a body, to a status code, or to "no answer";
// several, one a line, are given one after the other. What it does not hold is not found.
type Memory map[string]string

// Client makes a client of project p.
func (a Memory) Client() *openstack.Client {
	provider := &gophercloud.ProviderClient{}
	provider.UseTokenLock()
	provider.SetToken("token-1")
	provider.HTTPClient.Transport = a.Seeing(func(*http.Request) {})
	service := func(name string) *gophercloud.ServiceClient {
		return &gophercloud.ServiceClient{ProviderClient: provider, Endpoint: "http://cloud/" + name + "/", Type: name}
	}
	return &openstack.Client{Provider: provider, ProjectID: "p", Compute: service("compute"),
		Network:      service("network"),
		BlockStorage: service("volume"), LoadBalancer: service("loadbalancer")}
}

type transport struct {
	mu      sync.Mutex
	answers Memory
	see     func(*http.Request)
}

// Seeing answers requests, each of which see sees first.
func (a Memory) Seeing(see func(*http.Request)) http.RoundTripper {
	return &transport{answers: a, see: see}
}

// RoundTrip answers from memory.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	t.see(r)
	key := r.Method + " " + r.URL.Path
	if r.URL.RawQuery != "" {
		key += "?" + r.URL.RawQuery
	}
	answer, known := t.answers[key]
	if first, rest, several := strings.Cut(answer, "\n"); several && !strings.HasPrefix(answer, "{") {
		answer, t.answers[key] = first, rest
	}
	code, err := strconv.Atoi(strings.SplitN(answer, " ", 2)[0])
	switch {
	case answer == "no answer":
		return nil, errors.New("connection reset")
	case !known:
		code, answer = http.StatusNotFound, ""
	case err != nil:
		code = http.StatusOK
	default:
		_, answer, _ = strings.Cut(answer, " ")
	}
	return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(answer)), Request: r}, nil
}

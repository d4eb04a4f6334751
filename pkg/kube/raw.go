package kube

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"k8s.io/client-go/rest"
)

// Raw reads a path of the API server, and returns at most that many bytes of the response. No HTTP status is an error.
// The body of the returned response is closed. If reading the body fails, Raw returns what it has read.
func (c *Cluster) Raw(ctx context.Context, path string, most int64) (*http.Response, []byte, error) {
	host, _, err := rest.DefaultServerUrlFor(c.Config)
	if err != nil {
		return nil, nil, fmt.Errorf("find the address of the %s cluster: %w", c.Name, err)
	}
	client, err := rest.HTTPClientFor(c.Config)
	if err != nil {
		return nil, nil, fmt.Errorf("make a client for the %s cluster: %w", c.Name, err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(host.String(), "/")+path, nil)
	if err != nil {
		return nil, nil, err
	}
	answer, err := client.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, most))
	return answer, body, err
}

//go:build integration

package lease_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// untilClosed passes requests on until silent is closed; from then on none gets an answer.
func untilClosed(silent <-chan struct{}) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			select {
			case <-silent:
				<-r.Context().Done()
				return nil, errors.New("no answer")
			default:
				return next.RoundTrip(r)
			}
		})
	}
}

// readOnly refuses every change, as an API server does for a user with read permission only.
func readOnly(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodGet {
			return next.RoundTrip(r)
		}
		body := `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403, "message": "leases is forbidden: you may only look"}`
		return &http.Response{StatusCode: http.StatusForbidden,
			Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)),
			Request: r}, nil
	})
}

//go:build integration

package lease_test

import (
	"errors"
	"net/http"
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

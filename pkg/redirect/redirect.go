// Package redirect keeps credentials at their host, whatever a server answers.
package redirect

import (
	"errors"
	"fmt"
	"net/http"
)

// most is the number of requests in a chain of redirects, including the first.
const most = 10

// ErrWithoutTLS is in the error of a redirect from https to http.
var ErrWithoutTLS = errors.New("without TLS")

// WithoutCredentials is a CheckRedirect that follows to other hosts without credentials, and never from https to http.
func WithoutCredentials(to *http.Request, via []*http.Request) error {
	if err := check(to, via); err != nil {
		return err
	}
	if !sameHost(to, via[0]) {
		to.Header.Del("Authorization")
		to.Header.Del("Cookie")
		to.URL.User = nil
	}
	return nil
}

// SameHost is a CheckRedirect for requests whose bodies or own headers carry credentials: it never follows to another
// host, nor from https to http.
func SameHost(to *http.Request, via []*http.Request) error {
	if err := check(to, via); err != nil {
		return err
	}
	if !sameHost(to, via[0]) {
		return fmt.Errorf("redirected to another host, %s, which must not get these credentials", to.URL.Host)
	}
	return nil
}

func check(to *http.Request, via []*http.Request) error {
	if len(via) >= most {
		return fmt.Errorf("redirected %d times", most)
	}
	if via[0].URL.Scheme == "https" && to.URL.Scheme != "https" {
		return fmt.Errorf("redirected to %s, %w", to.URL.Host, ErrWithoutTLS)
	}
	return nil
}

func sameHost(one, other *http.Request) bool {
	return one.URL.Host == other.URL.Host && one.URL.Scheme == other.URL.Scheme
}

// OverTLS is a RoundTripper for a client that follows redirects by itself: it sends no credentials without TLS.
type OverTLS struct{ http.RoundTripper }

// RoundTrip refuses a request that would send credentials in clear.
func (t OverTLS) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme == "http" && r.Header.Get("Authorization") != "" {
		return nil, fmt.Errorf("send credentials to %s: the address has no TLS", r.URL.Host)
	}
	return t.RoundTripper.RoundTrip(r)
}

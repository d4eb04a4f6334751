package openstack

import (
	"errors"
	"net/http"

	"github.com/gophercloud/gophercloud/v2"
)

// ErrNotFound reports that the cloud does not have the resource, or no longer.
var ErrNotFound = errors.New("no such resource in the cloud")

// Refusal is an unexpected answer of the cloud, or none at all.
type Refusal struct {
	Code      int    // of HTTP; 0 without an answer
	Message   string // the cloud's own message
	Temporary bool   // whether a retry may succeed later
}

// Error returns the cloud's message.
func (r *Refusal) Error() string { return r.Message }

// Temporary reports whether a retry may succeed later: a resource is in use or changing its state, a service is
// overloaded or unhealthy, or there was no answer.
func Temporary(err error) bool {
	refused, is := errors.AsType[*Refusal](err)
	return is && refused.Temporary
}

// Forbidden reports whether the cloud's policy forbids the request with these credentials.
func Forbidden(err error) bool {
	refused, is := errors.AsType[*Refusal](err)
	return is && refused.Code == http.StatusForbidden
}

// Answer turns gophercloud's errors, which contain addresses and whole bodies, into ErrNotFound or a Refusal.
func Answer(err error) error {
	if err == nil {
		return nil
	}
	code := Status(err)
	_, login := errors.AsType[*gophercloud.ErrUnableToReauthenticate](err)
	if code == http.StatusNotFound && !login {
		return ErrNotFound
	}
	return &Refusal{Code: code, Message: reason(err), Temporary: code == 0 || passes(code) &&
		!(login && code == http.StatusUnauthorized)}
}

// passes reports whether an HTTP status may change later. 401 may: a token may expire between its renewal and its use.
func passes(code int) bool {
	switch code {
	case http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusConflict, http.StatusLocked,
		http.StatusTooManyRequests:
		return true
	}
	return code >= http.StatusInternalServerError
}

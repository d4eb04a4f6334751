package openstack

import (
	"errors"
	"net/http"

	"github.com/gophercloud/gophercloud/v2"
)

// ErrNotFound says that the cloud has no such resource (any more).
var ErrNotFound = errors.New("no such resource in the cloud")

// Refusal is an answer of the cloud that is not what was asked for, or none at all.
type Refusal struct {
	Code      int    // of HTTP; 0 when there was no answer
	Message   string // the cloud's own words
	Temporary bool   // whether the same question may be answered otherwise in a while
}

// Error returns the cloud's words.
func (r *Refusal) Error() string { return r.Message }

// Temporary reports whether the cloud may answer otherwise in a while: something is still in use or on its way to
// another state, a service is ill, an answer did not come.
func Temporary(err error) bool {
	refused, is := errors.AsType[*Refusal](err)
	return is && refused.Temporary
}

// Forbidden reports whether the cloud's policy forbids it to these credentials.
func Forbidden(err error) bool {
	refused, is := errors.AsType[*Refusal](err)
	return is && refused.Code == http.StatusForbidden
}

// Answer turns gophercloud's errors, which hold addresses and whole bodies, into ErrNotFound or a Refusal.
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

// passes tells of answers that another time may be others. 401 is one: a token may end between its renewal and its use.
func passes(code int) bool {
	switch code {
	case http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusConflict, http.StatusLocked,
		http.StatusTooManyRequests:
		return true
	}
	return code >= http.StatusInternalServerError
}

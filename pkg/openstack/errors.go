package openstack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

const (
	addressHint = "Check the address (auth_url, OS_AUTH_URL), the proxy (https_proxy, no_proxy), and whether this " +
		"machine reaches the cloud."
	trustHint   = "Set the authority that signed the cloud's certificate: cacert in the clouds.yaml, or OS_CACERT."
	refusedHint = "Check user, password, project and their domains, or whether the application credential has expired " +
		"or was deleted."
	failsHint = "Run the same command again later, or ask the operator of the cloud: the cloud itself fails."
)

// Explain turns a request's error into one for users, which begins with the failed action. It keeps nothing of the
// library's text: that quotes the whole answer, which may be the page of a proxy, or the request. It keeps the chain.
// Without an answer, or if the service itself fails, the code is fault.CloudUnreachable; with refused credentials it is
// fault.CloudRefused. Other errors, and an interruption, have no code. Nil stays nil.
func Explain(what string, err error) error {
	if err == nil {
		return nil
	}
	e := &explained{cause: err, text: what + ": " + reason(err)}
	switch code := Status(err); {
	case code == http.StatusUnauthorized:
		return fault.Wrap(e, fault.CloudRefused, refusedHint)
	case code == http.StatusTooManyRequests || code >= 500:
		return fault.Retryable(e, fault.CloudUnreachable, failsHint)
	case code != 0 || errors.Is(err, context.Canceled) || !ofNetwork(err):
		return e
	case ofTrust(err):
		return fault.Wrap(e, fault.CloudUnreachable, trustHint)
	}
	return fault.Retryable(e, fault.CloudUnreachable, addressHint)
}

// explainLogin is Explain for the login, whose request contains the password: it keeps only the status of the answer.
func explainLogin(cloud, address string, err error) error {
	e := &explained{cause: err, text: fmt.Sprintf("logging in to cloud %s at %s: ", cloud, address)}
	code := Status(err)
	switch {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		e.text += fmt.Sprintf("the credentials are refused (%d)", code)
		return fault.Wrap(e, fault.CloudRefused, refusedHint)
	case code == http.StatusTooManyRequests || code >= 500:
		e.text += fmt.Sprintf("the identity service answers %d", code)
		return fault.Retryable(e, fault.CloudUnreachable, failsHint)
	case code != 0:
		e.text += fmt.Sprintf("the address has no identity service: the answer is %d", code)
		return fault.Wrap(e, fault.CloudUnreachable, addressHint)
	case !ofNetwork(err):
		e.text += "the address does not have an identity service of version 3"
		return fault.Wrap(e, fault.CloudUnreachable, addressHint)
	}
	e.text += networkReason(err)
	switch {
	case errors.Is(err, context.Canceled):
		return e
	case ofTrust(err):
		return fault.Wrap(e, fault.CloudUnreachable, trustHint)
	}
	return fault.Retryable(e, fault.CloudUnreachable, addressHint)
}

// explained has its own text and wraps cause.
type explained struct {
	cause error
	text  string
}

// Error does not quote the cause.
func (e *explained) Error() string { return e.text }

// Unwrap returns the cause, for its type: its text may contain secrets.
func (e *explained) Unwrap() error { return e.cause }

// Status returns the HTTP status that err is about. Zero means there was no answer, or err is about something else.
func Status(err error) int {
	if again, ok := errors.AsType[*gophercloud.ErrUnableToReauthenticate](err); ok { // it does not unwrap
		return Status(again.ErrReauth)
	}
	answer, _ := answerOf(err)
	return answer.Actual
}

// answerOf finds the answer in err's chain: the library wraps it by value and by pointer.
func answerOf(err error) (gophercloud.ErrUnexpectedResponseCode, bool) {
	if e, ok := errors.AsType[*gophercloud.ErrUnexpectedResponseCode](err); ok {
		return *e, true
	}
	return errors.AsType[gophercloud.ErrUnexpectedResponseCode](err)
}

// reason describes err without the library's text, which may quote the request.
func reason(err error) string {
	if again, ok := errors.AsType[*gophercloud.ErrUnableToReauthenticate](err); ok {
		if code := Status(again.ErrReauth); code != 0 { // of a login: only the status
			return fmt.Sprintf("the token has expired, and the new login is refused with %d", code)
		}
		return "the token has expired, and the new login failed: " + networkReason(again.ErrReauth)
	}
	if answer, ok := answerOf(err); ok {
		text := fmt.Sprintf("%d %s", answer.Actual, http.StatusText(answer.Actual))
		if message := messageOf(answer.Body); message != "" {
			text += ": " + message
		}
		return text
	}
	if ofNetwork(err) {
		return networkReason(err)
	}
	if errors.Is(err, errNotWhole) {
		return errNotWhole.Error()
	}
	return "the answer cannot be read"
}

const longestMessage = 300 // characters

// messageOf finds the message in an OpenStack service's answer, such as {"forbidden": {"message": "..."}} or
// {"faultstring": "..."}. Empty means the answer has another form.
func messageOf(body []byte) string {
	var answer map[string]any
	if json.Unmarshal(body, &answer) != nil {
		return ""
	}
	found := func(in map[string]any) string {
		for _, key := range []string{"message", "faultstring"} {
			if text, ok := in[key].(string); ok && text != "" {
				return text
			}
		}
		return ""
	}
	message := found(answer)
	for _, key := range slices.Sorted(maps.Keys(answer)) {
		if inner, ok := answer[key].(map[string]any); ok && message == "" {
			message = found(inner)
		}
	}
	message = strings.Join(strings.Fields(Printable(strings.ReplaceAll(message, "\n", " "))), " ")
	if runes := []rune(message); len(runes) > longestMessage {
		message = string(runes[:longestMessage]) + "…"
	}
	return message
}

// Printable removes from a text what a terminal might interpret.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, text)
}

// errNotWhole means that an answer lacks what was asked for.
var errNotWhole = errors.New("the answer lacks what was asked for")

// Whole returns an answer that the client library has read. The library gives nil, and no error, for one that lacks
// what was asked for.
func Whole[T any](answer *T, err error) (*T, error) {
	if err == nil && answer == nil {
		return nil, errNotWhole
	}
	return answer, err
}

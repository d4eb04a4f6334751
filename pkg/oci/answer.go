package oci

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// StatusError is an unexpected HTTP status.
type StatusError struct{ Code int }

// Error is the status as HTTP writes it.
func (e *StatusError) Error() string { return fmt.Sprintf("%d %s", e.Code, http.StatusText(e.Code)) }

// Unreadable makes err a fault SourceUnreadable with the hint for its cause. Nil stays nil.
func Unreadable(err error) error {
	if err == nil || fault.CodeOf(err) == fault.SourceUnreadable { // it may have its hint already
		return err
	}
	hint, retry := "Check the address, and that this machine reaches it.", false
	code := StatusOf(err)
	_, isDNS := errors.AsType[*net.DNSError](err)
	_, isOp := errors.AsType[*net.OpError](err)
	switch {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		hint = "Check the credentials: git uses GITLAB_USER and GITLAB_TOKEN, an OCI registry your " +
			"`docker login`."
	case code == http.StatusNotFound:
		hint = "Check the address, branch, tag or version, and that the credentials have access: a server may hide a " +
			"private repository."
	case code == http.StatusProxyAuthRequired:
		hint = "Check http_proxy and https_proxy: the proxy requires credentials."
	case code == http.StatusTooManyRequests || code >= 500:
		hint, retry = "Try again later: the server has a problem.", true
	case IsTLS(err):
		hint = "Set the CA of the server's certificate with --source-ca-file if it is the source's, " +
			"or add it to the system's trust store (or SSL_CERT_FILE), and check that no proxy replaces it."
	case isDNS || isOp:
		hint, retry = "Check the network, http_proxy, https_proxy and "+
			"no_proxy. Without internet access, use --bundle.", true
	}
	if retry {
		return fault.Retryable(err, fault.SourceUnreadable, hint)
	}
	return fault.Wrap(err, fault.SourceUnreadable, hint)
}

// StatusOf returns the HTTP status with which a server refused a request, 0 if err is not about one.
func StatusOf(err error) int {
	if t, ok := errors.AsType[*transport.Error](err); ok {
		return t.StatusCode
	}
	if s, ok := errors.AsType[*StatusError](err); ok {
		return s.Code
	}
	return 0
}

// IsTLS reports whether err is about certificates, or about a server without TLS.
func IsTLS(err error) bool {
	_, verify := errors.AsType[*tls.CertificateVerificationError](err)
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	_, host := errors.AsType[x509.HostnameError](err)
	_, invalid := errors.AsType[x509.CertificateInvalidError](err)
	_, record := errors.AsType[tls.RecordHeaderError](err)
	_, alert := errors.AsType[tls.AlertError](err)
	return verify || unknown || host || invalid || record || alert
}

// WithoutURL removes the URL that net/http puts before its errors: the caller names it, without its password.
func WithoutURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// Redacted hides what may be a secret in an address: the user, who may be a token, the password, the query and the
// fragment. Over ssh the user is a name, such as git.
func Redacted(address string) string {
	const hidden = "xxxxx" // as in net/url
	u, err := url.Parse(address)
	if err != nil || u.Host == "" && strings.Contains(address, "@") {
		return "(address that is no URL)"
	}
	if u.User != nil && u.Scheme != "ssh" {
		u.User = url.User(hidden)
	}
	if u.RawQuery != "" {
		u.RawQuery = hidden
	}
	if u.Fragment != "" {
		u.Fragment, u.RawFragment = hidden, ""
	}
	return u.Redacted()
}

// ReadAnswer reads at most limit bytes, and fails if there are more.
func ReadAnswer(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("more than %d bytes", limit)
	}
	return data, err
}

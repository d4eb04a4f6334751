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

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// StatusError is an HTTP answer that is not the wanted one.
type StatusError struct{ Code int }

// Error is the status as HTTP writes it.
func (e *StatusError) Error() string { return fmt.Sprintf("%d %s", e.Code, http.StatusText(e.Code)) }

// Unreadable makes err a fault SourceUnreadable with the hint that fits its cause; nil stays nil.
func Unreadable(err error) error {
	if err == nil || fault.CodeOf(err) == fault.SourceUnreadable { // nil, or one that knows its hint already
		return err
	}
	hint, retry := "check the address and that this machine reaches it", false
	code := 0
	if s, ok := errors.AsType[*StatusError](err); ok {
		code = s.Code
	}
	if t, ok := errors.AsType[*transport.Error](err); ok {
		code = t.StatusCode
	}
	_, isDNS := errors.AsType[*net.DNSError](err)
	_, isOp := errors.AsType[*net.OpError](err)
	switch {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		hint = "the server wants other credentials: git reads GITLAB_USER and GITLAB_TOKEN, an OCI registry your " +
			"`docker login`"
	case code == http.StatusNotFound:
		hint = "nothing is there, or it is private and the credentials do not reach it: check the address, branch, " +
			"tag or version"
	case code == http.StatusProxyAuthRequired:
		hint = "the proxy wants credentials: check http_proxy and https_proxy"
	case code == http.StatusTooManyRequests || code >= 500:
		hint, retry = "the server is not well: try again in a while", true
	case IsTLS(err):
		hint = "the server's certificate is not trusted here: give its CA with --source-ca-file if it is the source's, " +
			"or add it to the system's trust store (or SSL_CERT_FILE), and check that no proxy replaces it"
	case isDNS || isOp:
		hint, retry = "this machine does not reach the server: check the network, http_proxy, https_proxy and "+
			"no_proxy; without internet use --bundle", true
	}
	if retry {
		return fault.Retryable(err, fault.SourceUnreadable, hint)
	}
	return fault.Wrap(err, fault.SourceUnreadable, hint)
}

// IsTLS reports whether err is about certificates or about speaking TLS at all.
func IsTLS(err error) bool {
	_, verify := errors.AsType[*tls.CertificateVerificationError](err)
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	_, host := errors.AsType[x509.HostnameError](err)
	_, invalid := errors.AsType[x509.CertificateInvalidError](err)
	_, record := errors.AsType[tls.RecordHeaderError](err)
	_, alert := errors.AsType[tls.AlertError](err)
	return verify || unknown || host || invalid || record || alert
}

// WithoutURL drops the URL that net/http puts before its errors: the caller names it, without its password.
func WithoutURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// Redacted hides the password of an address.
func Redacted(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "(address that is no URL)"
	}
	return u.Redacted()
}

// ReadAnswer reads at most limit bytes and fails when there are more.
func ReadAnswer(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("more than %d bytes", limit)
	}
	return data, err
}

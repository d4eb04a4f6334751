package openstack

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"syscall"
)

// ofNetwork reports whether err is about a missing answer, or one that is not HTTP.
func ofNetwork(err error) bool {
	if _, ok := errors.AsType[*url.Error](err); ok { // all of net/http's
		return true
	}
	_, ok := errors.AsType[net.Error](err)
	return ok || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, context.Canceled)
}

// ofTrust reports whether this machine does not trust the server's certificate.
func ofTrust(err error) bool {
	_, verification := errors.AsType[*tls.CertificateVerificationError](err)
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	_, name := errors.AsType[x509.HostnameError](err)
	return verification || unknown || name
}

// networkReason explains a missing answer. It keeps no part of the error's text that may quote a proxy's password.
func networkReason(err error) string {
	text := cause(err)
	if operation, ok := errors.AsType[*net.OpError](err); ok && operation.Op == "proxyconnect" {
		return "the proxy: " + text
	}
	return text
}

func cause(err error) string {
	if name, ok := errors.AsType[*net.DNSError](err); ok {
		return "cannot resolve host " + name.Name
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return "it does not speak TLS (http instead of https?)"
	}
	if verification, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "its certificate is not trusted: " + verification.Err.Error()
	}
	for _, known := range []struct {
		is   error
		text string
	}{
		{context.Canceled, "interrupted"}, {syscall.ECONNREFUSED, "connection refused"},
		{syscall.ECONNRESET, "the connection was cut"},
		{syscall.EHOSTUNREACH, "no route to host"}, {syscall.ENETUNREACH, "network is unreachable"},
		{io.EOF, "the connection was closed"}, {io.ErrUnexpectedEOF, "the connection was closed"},
	} {
		if errors.Is(err, known.is) {
			return known.text
		}
	}
	if timed, ok := errors.AsType[net.Error](err); ok && timed.Timeout() {
		return "no answer in time"
	}
	return innermost(err)
}

// innermost recognizes by their text errors of net/http that have no type of their own.
func innermost(err error) string {
	for next := err; next != nil; next = errors.Unwrap(next) {
		err = next
	}
	switch text := err.Error(); {
	case strings.Contains(text, "server gave HTTP response to HTTPS client"):
		return "it does not speak TLS (http instead of https?)"
	case strings.Contains(text, "Proxy Authentication Required"):
		return "the proxy wants a user and a password"
	case strings.Contains(text, "proxy"):
		return "the proxy of the environment's variables cannot be used"
	case strings.HasPrefix(text, "tls: "):
		return text
	}
	return "the request could not be sent"
}

package oci

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// ErrNotSupported reports a mirror with a path that only containerd can use.
var ErrNotSupported = errors.New("not checked: only containerd can read this mirror's path")

// Served checks whether an image is served, where a node would look for it: at the mirrors of its host, and then at the
// host itself if no mirror excludes it. It downloads nothing. ca are additional certificates (PEM) that nodes trust.
// keys has the credentials of hosts. Errors have the code fault.SourceUnreadable, and may be ErrNotSupported.
func Served(ctx context.Context, image string, mirrors []Mirror, ca string, keys authn.Keychain) error {
	ref, err := name.ParseReference(image)
	if err != nil {
		return fault.Wrap(fmt.Errorf("image %q: %w", image, err), fault.SourceUnreadable,
			"Fix the image's name in the values.")
	}
	ask := func(ref name.Reference, options ...remote.Option) error {
		_, err := remote.Head(ref, append(options, remote.WithContext(ctx), remote.WithAuthFromKeychain(keys))...)
		return err
	}
	var missed []error
	for _, m := range mirrorsOf(ref, mirrors) {
		there, err := m.reference(ref)
		if err == nil {
			err = ask(there, trusting(m.CA+ca, m.SkipVerify)...)
		}
		if err == nil {
			return nil
		}
		missed = append(missed, fmt.Errorf("image %s at its mirror %s: %w", image, Redacted(m.URL), WithoutURL(err)))
		if m.Only {
			return Unreadable(errors.Join(missed...))
		}
	}
	if err := ask(ref, trusting(ca, false)...); err != nil {
		return Unreadable(errors.Join(append(missed, fmt.Errorf("image %s: %w", image, WithoutURL(err)))...))
	}
	return nil
}

// trusting returns the transport for a registry whose certificate is signed by ca, or not checked. Without either it
// returns none: the default.
func trusting(ca string, unchecked bool) []remote.Option {
	if ca == "" && !unchecked {
		return nil
	}
	via := remote.DefaultTransport.(*http.Transport).Clone()
	// Only a mirror for which the user disabled the check is unchecked.
	via.TLSClientConfig = &tls.Config{InsecureSkipVerify: unchecked, MinVersion: tls.VersionTLS12}
	if ca != "" {
		via.TLSClientConfig.RootCAs = Roots([]byte(ca))
	}
	return []remote.Option{remote.WithTransport(via)}
}

// Roots returns the authorities that this machine trusts, and those of ca (PEM). If this machine's cannot be read, it
// returns only ca.
func Roots(ca []byte) *x509.CertPool {
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	roots.AppendCertsFromPEM(ca)
	return roots
}

// mirrorsOf returns the mirror that containerd uses for an image: that of its host, else that of all other hosts.
func mirrorsOf(ref name.Reference, mirrors []Mirror) []Mirror {
	for _, host := range []string{originalHost(ref), allOthers} {
		for _, m := range mirrors {
			if m.Host == host {
				return []Mirror{m}
			}
		}
	}
	return nil
}

// reference is the image at the mirror. containerd requests it below URL/v2/, or below URL if that is the whole API
// root.
func (m Mirror) reference(of name.Reference) (name.Reference, error) {
	u, err := url.Parse(strings.TrimSuffix(m.URL, "/"))
	if err != nil {
		return nil, errors.New("its address does not parse")
	}
	below := ""
	if u.Path != "" {
		var root bool
		if below, root = strings.CutPrefix(u.Path+"/", "/v2/"); !root || !m.OverridePath && u.Path != "/v2" {
			return nil, ErrNotSupported
		}
	}
	var options []name.Option
	if u.Scheme == "http" {
		options = append(options, name.Insecure)
	}
	// not a part of a reference: without a dot it would be a path of Docker Hub
	host, err := name.NewRegistry(u.Host, options...)
	if err != nil {
		return nil, err
	}
	repository := host.Repo(below + of.Context().RepositoryStr())
	if digest, is := of.(name.Digest); is {
		return repository.Digest(digest.DigestStr()), nil
	}
	return repository.Tag(of.Identifier()), nil
}

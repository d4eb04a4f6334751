package source

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/oci"
	"github.com/cluster-init/cluster-init/pkg/redirect"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

const verifyTime = 30 * time.Second

// Verify checks that the user's own source can be read from here, before anything that depends on it is created. An
// Embedded source needs no check. Each repository or artifact has verifyTime. Errors are faults SourceUnreadable.
func (s Source) Verify(ctx context.Context, proxies content.Proxies) error {
	proxied := throughProxies(proxies, s.CA)
	defer proxied.CloseIdleConnections()
	return s.verify(ctx, proxied)
}

// throughProxies returns a transport that also trusts the certificates ca (PEM).
func throughProxies(proxies content.Proxies, ca []byte) *http.Transport {
	proxied := http.DefaultTransport.(*http.Transport).Clone()
	proxied.Proxy = proxies.Proxy()
	if len(ca) > 0 {
		proxied.TLSClientConfig = &tls.Config{RootCAs: oci.Roots(ca), MinVersion: tls.VersionTLS12}
	}
	return proxied
}

func (s Source) verify(ctx context.Context, via http.RoundTripper) error {
	switch s.Kind {
	case Git:
		address, overSSH := GitAddress(s.Git.URL)
		return ask(ctx, "git source", address, func(ctx context.Context) error {
			refs, err := s.references(ctx, address, overSSH, via)
			if err != nil {
				return err
			}
			return s.has(refs)
		})
	case OCI:
		for _, artifact := range []flux.OCIArtifact{s.Content, s.Chart} {
			if err := ask(ctx, "oci source", artifact.URL, func(ctx context.Context) error {
				return verifyOCI(ctx, artifact, via, authn.DefaultKeychain)
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

// has returns an error for what the source requires and the repository does not have.
func (s Source) has(refs []byte) error {
	switch {
	case s.Git.Branch != "" && !advertises(refs, "refs/heads/"+s.Git.Branch):
		return &noBranchError{s.Git.Branch}
	case s.Git.Tag != "" && !advertises(refs, "refs/tags/"+s.Git.Tag):
		return fmt.Errorf("it has no tag %s", s.Git.Tag)
	case s.Git.SemVer != "":
		return hasVersion(refs, s.Git.SemVer)
	}
	return nil
}

// hasVersion looks for a tag in a range of versions, as source-controller does.
func hasVersion(refs []byte, versions string) error {
	wanted, err := semver.NewConstraint(versions)
	if err != nil {
		return err
	}
	for line := range strings.SplitSeq(string(refs), "\n") {
		_, tag, isTag := strings.Cut(line, " refs/tags/")
		if version, err := semver.NewVersion(tag); isTag && err == nil && wanted.Check(version) {
			return nil
		}
	}
	return fmt.Errorf("it has no tag in the range %s", versions)
}

// ask bounds a request to a server, and turns its error into a fault that names the server's title and address.
func ask(ctx context.Context, title, address string, question func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, verifyTime)
	defer cancel()
	err := oci.WithoutURL(question(ctx))
	if noTLS(err) {
		err = fault.Wrap(err, fault.SourceUnreadable, "The server does not speak TLS there: for git use an http:// "+
			"address, for oci --source-insecure")
	}
	if err != nil {
		return oci.Unreadable(fmt.Errorf("%s %s: %w", title, oci.Redacted(address), err))
	}
	return nil
}

// references returns what the Git server has, as it advertises it.
func (s Source) references(ctx context.Context, address string, overSSH bool, via http.RoundTripper) ([]byte, error) {
	if overSSH {
		return referencesOverSSH(ctx, address, s.SSH)
	}
	return s.referencesOverHTTP(ctx, address, via)
}

// noTLS reports whether a TLS client got an answer that was not TLS.
func noTLS(err error) bool {
	_, other := errors.AsType[tls.RecordHeaderError](err)
	return other || errors.Is(err, http.ErrSchemeMismatch)
}

// maxRefs is the maximum size of a git server's answer: big monorepos advertise tens of megabytes.
const maxRefs = 64 << 20

// referencesOverHTTP sends the first request of every clone over HTTP. The protocol: git's gitprotocol-http(5), "smart"
// discovery.
func (s Source) referencesOverHTTP(ctx context.Context, address string, via http.RoundTripper) ([]byte, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, fmt.Errorf("not an http, https or ssh address")
	}
	u = u.JoinPath("info", "refs")
	u.RawQuery = "service=git-upload-pack"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	if s.Password != "" {
		req.SetBasicAuth(s.Username, s.Password)
	}
	resp, err := (&http.Client{Transport: via, CheckRedirect: redirect.WithoutCredentials}).Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, &oci.StatusError{Code: resp.StatusCode}
	}
	if kind := resp.Header.Get("Content-Type"); kind != "application/x-git-upload-pack-advertisement" {
		return nil, fault.New(fault.SourceUnreadable, fmt.Sprintf("the answer is %q, not that of a git server", kind),
			"Use the address that `git clone` accepts. A login page answers if credentials are missing.")
	}
	return oci.ReadAnswer(resp.Body, maxRefs)
}

// advertises finds a reference in a server's answer: each line is "<hash> <ref>", the first followed by NUL and
// capabilities.
func advertises(refs []byte, ref string) bool {
	for line := range strings.SplitSeq(string(refs), "\n") {
		line, _, _ = strings.Cut(line, "\x00")
		if strings.HasSuffix(line, " "+ref) {
			return true
		}
	}
	return false
}

// noBranchError is the error for a readable repository without the requested branch.
type noBranchError struct{ branch string }

// Error names the missing branch.
func (e *noBranchError) Error() string { return "it has no branch " + e.branch }

// verifyOCI requests the artifact's manifest.
func verifyOCI(ctx context.Context, artifact flux.OCIArtifact, via http.RoundTripper, keys authn.Keychain) error {
	var opts []name.Option
	if artifact.Insecure {
		opts = append(opts, name.Insecure)
	}
	repo, err := name.NewRepository(strings.TrimPrefix(artifact.URL, "oci://"), opts...)
	if err != nil {
		return err
	}
	if !artifact.Insecure {
		via = redirect.OverTLS{RoundTripper: via}
	}
	var reference name.Reference = repo.Tag(artifact.Tag)
	if artifact.Digest != "" {
		reference = repo.Digest(artifact.Digest)
	}
	_, err = remote.Get(reference, remote.WithContext(ctx), remote.WithTransport(via),
		remote.WithAuthFromKeychain(keys))
	return err
}

// Package source is where Flux reads the chart and the components from: this binary's own content, a Git repository or a registry.
// It checks that a user's own source can be read, and holds the credentials for it.
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

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/oci"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// Source is a user's own source of content.
type Source struct {
	Kind string // "git" or "oci"
	URL  string // https://..., http://..., ssh://... or user@host:path for git; oci://host/path for oci
	// Branch and Tag name what is read; for oci Tag or Digest. All empty: whatever is there.
	Branch, Tag, Digest string
	// Username and Password go to a git server over HTTP; empty means none. OCI uses the user's docker config.
	Username, Password string
	// SSH is the key for a git server over ssh.
	SSH *SSHKey
	// Insecure allows an OCI registry on plain http.
	Insecure bool
	// Proxies are those of the environment.
	Proxies content.Proxies
}

const verifyTime = 30 * time.Second

// VerifySource checks that the source can be read from here, before anything is created that depends on it. Its
// errors are faults SourceUnreadable.
func VerifySource(ctx context.Context, s Source) error {
	proxied := http.DefaultTransport.(*http.Transport).Clone()
	proxied.Proxy = s.Proxies.Proxy()
	defer proxied.CloseIdleConnections()
	return verifySource(ctx, s, proxied)
}

func verifySource(ctx context.Context, s Source, via http.RoundTripper) error {
	ctx, cancel := context.WithTimeout(ctx, verifyTime)
	defer cancel()
	var err error
	switch s.Kind {
	case "git":
		var overSSH bool
		if s.URL, overSSH = GitAddress(s.URL); overSSH {
			err = verifySSH(ctx, s)
		} else {
			err = verifyGit(ctx, s, via)
		}
	case "oci":
		err = verifyOCI(ctx, s, via)
	default:
		return fault.New(fault.Usage, fmt.Sprintf("source kind %q", s.Kind), "source kinds are embedded, git and oci")
	}
	if err = oci.WithoutURL(err); noTLS(err) {
		err = fault.Wrap(err, fault.SourceUnreadable, "the server does not speak TLS there: for git use an http:// address, for oci --source-insecure")
	}
	if err != nil {
		return oci.Unreadable(fmt.Errorf("%s source %s: %w", s.Kind, oci.Redacted(s.URL), err))
	}
	return nil
}

// noTLS says whether what answered a TLS client was something else.
func noTLS(err error) bool {
	_, other := errors.AsType[tls.RecordHeaderError](err)
	return other || errors.Is(err, http.ErrSchemeMismatch)
}

// maxRefs bounds the answer of a git server: big monorepos advertise tens of megabytes.
const maxRefs = 64 << 20

// verifyGit asks for the references, the first request of every clone over HTTP.
// The protocol: git's gitprotocol-http(5), "smart" discovery.
func verifyGit(ctx context.Context, s Source, via http.RoundTripper) error {
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return fmt.Errorf("no http, https or ssh address")
	}
	u = u.JoinPath("info", "refs")
	u.RawQuery = "service=git-upload-pack"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return err
	}
	if s.Username != "" || s.Password != "" {
		req.SetBasicAuth(s.Username, s.Password)
	}
	resp, err := (&http.Client{Transport: via}).Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return &oci.StatusError{Code: resp.StatusCode}
	}
	if kind := resp.Header.Get("Content-Type"); kind != "application/x-git-upload-pack-advertisement" {
		return fault.New(fault.SourceUnreadable, fmt.Sprintf("the answer is %q, not that of a git server", kind),
			"give the address that `git clone` takes; a login page answers when credentials are missing")
	}
	refs, err := oci.ReadAnswer(resp.Body, maxRefs)
	if err != nil {
		return err
	}
	return hasRefs(refs, s)
}

// hasRefs looks for the branch and the tag that are wanted among what the server has.
func hasRefs(refs []byte, s Source) error {
	if s.Branch != "" && !advertises(refs, "refs/heads/"+s.Branch) {
		return &statusNoRef{"branch " + s.Branch}
	}
	if s.Tag != "" && !advertises(refs, "refs/tags/"+s.Tag) {
		return &statusNoRef{"tag " + s.Tag}
	}
	return nil
}

// advertises finds a reference in a server's answer: each stands on a line as "<hash> <ref>", the first followed by
// NUL and capabilities.
func advertises(refs []byte, ref string) bool {
	for line := range strings.SplitSeq(string(refs), "\n") {
		line, _, _ = strings.Cut(line, "\x00")
		if strings.HasSuffix(line, " "+ref) {
			return true
		}
	}
	return false
}

// statusNoRef is a repository that can be read and lacks what is asked for.
type statusNoRef struct{ what string }

// Error names what is missing.
func (e *statusNoRef) Error() string { return "it has no " + e.what }

// verifyOCI asks for the artifact's manifest, or for the tags when none is named.
func verifyOCI(ctx context.Context, s Source, via http.RoundTripper) error {
	var opts []name.Option
	if s.Insecure {
		opts = append(opts, name.Insecure)
	}
	repo, err := name.NewRepository(strings.TrimPrefix(s.URL, "oci://"), opts...)
	if err != nil {
		return err
	}
	options := []remote.Option{
		remote.WithContext(ctx), remote.WithTransport(via), remote.WithAuthFromKeychain(authn.DefaultKeychain),
	}
	switch {
	case s.Digest != "":
		_, err = remote.Get(repo.Digest(s.Digest), options...)
	case s.Tag != "":
		_, err = remote.Get(repo.Tag(s.Tag), options...)
	default:
		_, err = remote.List(repo, options...)
	}
	return err
}

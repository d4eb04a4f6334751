package content

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/oci"
	"github.com/cluster-init/cluster-init/pkg/redirect"
	"github.com/cluster-init/cluster-init/pkg/wholefile"
)

// Proxies are the proxy settings of an environment; all empty means those of the process environment.
type Proxies struct {
	HTTP, HTTPS, No string
}

// Proxy returns the function that http.Transport wants.
func (p Proxies) Proxy() func(*http.Request) (*url.URL, error) {
	if p == (Proxies{}) {
		return http.ProxyFromEnvironment
	}
	choose := (&httpproxy.Config{HTTPProxy: p.HTTP, HTTPSProxy: p.HTTPS, NoProxy: p.No}).ProxyFunc()
	return func(r *http.Request) (*url.URL, error) { return choose(r.URL) }
}

// HTTPFetcher fetches over the network and caches what it got. A file that Sums pin must have that digest. Any other
// must at least have the format of what its URL names. The same applies to cached files: the answer of a captive portal
// is never returned.
type HTTPFetcher struct {
	// Sums are the digests of what is fetched.
	Sums Sums
	// Client sends the requests; nil means one with the proxies of the process environment.
	Client *http.Client
	// CacheDir keeps verified answers by URL for ever: a release URL always returns the same. Empty means no cache.
	CacheDir string
	// Timeout bounds one attempt; zero means a minute.
	Timeout time.Duration
	// AnyForm passes files of any form but web pages when no digest is pinned: the caller compares the digest.
	AnyForm bool
	// Limit bounds a file in bytes; zero means 32 MiB.
	Limit int64
	// Backoff is the wait before the second attempt, doubled before the third; zero means a second.
	Backoff time.Duration
}

const (
	maxManifest = 32 << 20
	attempts    = 3
)

// NewHTTPFetcher is a fetcher with the environment's proxies, the digests of the content and the user's cache
// directory.
func NewHTTPFetcher(p Proxies, sums Sums) *HTTPFetcher {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = p.Proxy()
	f := &HTTPFetcher{Sums: sums, Client: &http.Client{Transport: transport}}
	if dir, err := os.UserCacheDir(); err == nil {
		f.CacheDir = filepath.Join(dir, "cluster-init", "manifests")
	}
	return f
}

// Fetch returns what is at address, from the cache if that has it and it passes verification. It retries connection
// errors and temporary errors of a server. The error is a fault SourceUnreadable, or ctx's if it ends between attempts.
func (f *HTTPFetcher) Fetch(ctx context.Context, address string) ([]byte, error) {
	cached := f.cacheFile(address)
	if cached != "" {
		if data, err := os.ReadFile(cached); err == nil && f.verify(address, data) == nil {
			return data, nil
		}
	}
	wait := f.Backoff
	if wait == 0 {
		wait = time.Second
	}
	var data []byte
	var err error
	for attempt := range attempts {
		if attempt > 0 {
			if err := sleep(ctx, wait); err != nil {
				return nil, err
			}
			wait *= 2
		}
		if data, err = f.get(ctx, address); err == nil || !isTemporary(err) || ctx.Err() != nil {
			break
		}
	}
	if err == nil {
		err = f.verify(address, data)
	}
	if err != nil {
		return nil, oci.Unreadable(fmt.Errorf("fetch %s: %w", oci.Redacted(address), err))
	}
	if cached != "" {
		_ = os.MkdirAll(f.CacheDir, 0o700) // an unwritable cache costs time only
		_ = wholefile.Write(cached, data, 0o600)
	}
	return data, nil
}

// get is one attempt.
func (f *HTTPFetcher) get(ctx context.Context, address string) ([]byte, error) {
	timeout := f.Timeout
	if timeout == 0 {
		timeout = time.Minute
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	client := http.Client{CheckRedirect: redirect.WithoutCredentials}
	if f.Client != nil {
		client = *f.Client
		client.CheckRedirect = redirect.WithoutCredentials
	}
	resp, err := client.Do(req)
	if errors.Is(err, redirect.ErrWithoutTLS) {
		return nil, fault.Wrap(oci.WithoutURL(err), fault.SourceUnreadable, hintAnswered)
	}
	if err != nil {
		return nil, oci.WithoutURL(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, &oci.StatusError{Code: resp.StatusCode}
	}
	return oci.ReadAnswer(resp.Body, cmp.Or(f.Limit, maxManifest))
}

// cacheFile is where an answer is cached, or "": addresses of the latest release change their content.
func (f *HTTPFetcher) cacheFile(address string) string {
	if f.CacheDir == "" || strings.Contains(address, "/latest/") {
		return ""
	}
	return filepath.Join(f.CacheDir, fmt.Sprintf("%x", sha256.Sum256([]byte(address))))
}

// isTemporary reports whether the same request may succeed a moment later.
func isTemporary(err error) bool {
	if s, ok := errors.AsType[*oci.StatusError](err); ok {
		return s.Code == http.StatusTooManyRequests || s.Code == http.StatusRequestTimeout || s.Code >= 500
	}
	if oci.IsTLS(err) {
		return false
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return false
	}
	_, isNet := errors.AsType[net.Error](err)
	return isNet || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, context.DeadlineExceeded)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

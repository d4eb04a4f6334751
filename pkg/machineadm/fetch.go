package machineadm

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"golang.org/x/net/http/httpproxy"
)

const (
	fetchTimeout = 10 * time.Minute // for one file
	patience     = 90 * time.Second
	retryDelay   = 2 * time.Second
	// leastAttempts are made also if the first one takes longer.
	leastAttempts = 3
	connectTime   = 10 * time.Second // and as much again for TLS
	idleTime      = 30 * time.Second
	maxFile       = 1 << 30 // bytes
)

// ErrDigest is that of a file that has another digest than it must.
var ErrDigest = errors.New("the digest")

// Fetcher fetches files over HTTP.
type Fetcher struct {
	// Client is for all requests. Nil is one with the Config's proxies.
	Client *http.Client
	// Patience is how long a fetch that fails is repeated, and Delay the time between two of them. Zero means the
	// default.
	Patience, Delay time.Duration
	// Idle is how long a server may send nothing. Zero means 30 s.
	Idle time.Duration
}

// client returns the client for a Config.
func (f Fetcher) client(proxy *Proxy) *http.Client {
	if f.Client != nil {
		return f.Client
	}
	transport := &http.Transport{ResponseHeaderTimeout: time.Minute, ForceAttemptHTTP2: true,
		DialContext: (&net.Dialer{Timeout: connectTime}).DialContext, TLSHandshakeTimeout: connectTime}
	if proxy != nil {
		proxies := httpproxy.Config{HTTPProxy: proxy.HTTP, HTTPSProxy: proxy.HTTPS, NoProxy: proxy.NoProxy}
		choose := proxies.ProxyFunc()
		transport.Proxy = func(r *http.Request) (*url.URL, error) { return choose(r.URL) }
	}
	return &http.Client{Transport: transport}
}

// Fetch writes what an address serves to a new file in a folder, and returns its path, if it has the digest. It goes
// through the proxy; nil means none. It does not repeat a fetch for a wrong digest.
func (f Fetcher) Fetch(ctx context.Context, proxy *Proxy, source Source, folder string) (string, error) {
	client := f.client(proxy)
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	end := time.Now().Add(cmp.Or(f.Patience, patience))
	for attempt := 1; ; attempt++ {
		path, sum, err := f.try(ctx, client, source.URL, folder)
		if err == nil && sum != source.SHA256 {
			err = fmt.Errorf("%w of %s begins with %.12s, want %.12s", ErrDigest, withoutLogin(source.URL), sum,
				source.SHA256)
			return "", errors.Join(err, os.Remove(path))
		}
		if err == nil {
			return path, nil
		}
		if attempt >= leastAttempts && time.Now().After(end) {
			return "", err
		}
		timer := time.NewTimer(cmp.Or(f.Delay, retryDelay))
		select {
		case <-ctx.Done():
			timer.Stop()
			return "", errors.Join(err, ctx.Err())
		case <-timer.C:
		}
	}
}

// try makes one request.
func (f Fetcher) try(ctx context.Context, client *http.Client, address, folder string) (path, sum string, err error) {
	idle := cmp.Or(f.Idle, idleTime)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", "", errors.New("the address is not a URL")
	}
	response, err := client.Do(request)
	if err != nil {
		var failed *url.Error
		if errors.As(err, &failed) { // its text has the address with its login
			err = failed.Err
		}
		return "", "", fmt.Errorf("fetch %s: %w", withoutLogin(address), err)
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if response.StatusCode != http.StatusOK {
		return "", "", fmt.Errorf("fetch %s: %s", withoutLogin(address), response.Status)
	}
	file, err := os.CreateTemp(folder, unfinished+"*")
	if err != nil {
		return "", "", err
	}
	hash := sha256.New()
	stalled := time.AfterFunc(idle, func() { cancel(fmt.Errorf("no byte came for %s", idle)) })
	defer stalled.Stop()
	body := watchedReader{response.Body, func() { stalled.Reset(idle) }}
	count, err := io.Copy(io.MultiWriter(file, hash), io.LimitReader(body, maxFile+1))
	if err != nil && context.Cause(ctx) != nil {
		err = context.Cause(ctx)
	}
	if err == nil && count > maxFile {
		err = fmt.Errorf("%s has more than %d bytes", withoutLogin(address), maxFile)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return "", "", errors.Join(fmt.Errorf("fetch %s: %w", withoutLogin(address), err), os.Remove(file.Name()))
	}
	return file.Name(), hex.EncodeToString(hash.Sum(nil)), nil
}

// watchedReader calls read after each successful Read.
type watchedReader struct {
	io.Reader
	read func()
}

// Read reads.
func (r watchedReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if n > 0 {
		r.read()
	}
	return n, err
}

// withoutLogin returns an address without a user and a password.
func withoutLogin(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return hidden
	}
	u.User = nil
	return u.String()
}

//go:build integration

package pivot_test

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The injected faults: what goes wrong at one write.
const (
	killedBefore = "killed before" // the process ends, and the write is not sent
	killedAfter  = "killed after"  // the process ends when the API server has carried the write out
	// the API server has applied the write, and the connection breaks before the reply
	replyLost   = "applied, no reply"
	unavailable = "unavailable"      // from this write on the API server of that side answers 503 for a while
	staleRead   = "stale read after" // the next read of that side gives what it gave the last time
)

var strikes = []string{killedBefore, killedAfter, replyLost, unavailable, staleRead}

// strike is an injected fault: what goes wrong, and at which write, counted from 1 on both sides together. Requests
// that change nothing do not count: see changesNothing.
type strike struct {
	What  string
	Write int
	// Outage is for how long an API server is unavailable.
	Outage time.Duration
}

// explains reports whether the injected fault may end a process like this. Only a kill ends it without a message. The
// process may survive the other faults, or report that it failed.
func (s strike) explains(status syscall.WaitStatus) bool {
	switch s.What {
	case "":
		return false
	case killedBefore, killedAfter:
		return status.Signal() == syscall.SIGKILL
	}
	return status.ExitStatus() == 1
}

// striker counts the writes of a process, and injects the fault at one.
type striker struct {
	at     strike
	writes atomic.Int64
}

// struckSide is the API server of one side, as the process sees it over all of its connections.
type struckSide struct {
	*striker
	mu    sync.Mutex
	until time.Time        // it answers 503
	stale bool             // the next answer that was given before is given again
	given map[string]given // the last answers of reads, by what was asked
}

// given is an answer to a read.
type given struct {
	body        []byte
	contentType string
}

// connection is one of them.
type connection struct {
	*struckSide
	next http.RoundTripper
}

func (s connection) RoundTrip(r *http.Request) (*http.Response, error) {
	if s.down() {
		return unavailableNow(r), nil
	}
	if r.Method == http.MethodGet {
		return s.read(r)
	}
	if changesNothing(r) {
		return s.next.RoundTrip(r)
	}
	if s.writes.Add(1) != int64(s.at.Write) {
		return s.next.RoundTrip(r)
	}
	return s.strike(r)
}

// changesNothing reports whether a request only asks: a read, a dry run, or a review of permissions or of an identity.
// A run that is interrupted there has changed no more than before it, so a fault at each of them would only cost time.
func changesNothing(r *http.Request) bool {
	return r.Method == http.MethodGet || r.URL.Query().Get("dryRun") == metav1.DryRunAll ||
		strings.HasPrefix(r.URL.Path, "/apis/authorization.k8s.io/") ||
		strings.HasPrefix(r.URL.Path, "/apis/authentication.k8s.io/")
}

func (s connection) strike(r *http.Request) (*http.Response, error) {
	switch s.at.What {
	case killedBefore:
		die()
	case unavailable:
		s.mu.Lock()
		s.until = time.Now().Add(s.at.Outage)
		s.mu.Unlock()
		return unavailableNow(r), nil
	}
	response, err := s.next.RoundTrip(r)
	switch s.at.What {
	case killedAfter:
		die()
	case replyLost:
		if err == nil {
			_ = response.Body.Close()
		}
		return nil, syscall.ECONNRESET
	case staleRead:
		s.mu.Lock()
		s.stale = true
		s.mu.Unlock()
	}
	return response, err
}

func (s *struckSide) down() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Before(s.until)
}

// read keeps the answer to a read, and returns an earlier one where it injects the fault.
func (s connection) read(r *http.Request) (*http.Response, error) {
	if r.URL.Query().Has("watch") || s.at.What != staleRead {
		return s.next.RoundTrip(r)
	}
	url := r.URL.String() + " " + r.Header.Get("Accept")
	s.mu.Lock()
	before, known := s.given[url]
	again := s.stale && known
	s.stale = s.stale && !known
	s.mu.Unlock()
	if again {
		return answer(r, http.StatusOK, before), nil
	}
	response, err := s.next.RoundTrip(r)
	if err != nil || response.StatusCode != http.StatusOK {
		return response, err
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.given == nil {
		s.given = map[string]given{}
	}
	s.given[url] = given{body, response.Header.Get("Content-Type")}
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, nil
}

func unavailableNow(r *http.Request) *http.Response {
	return answer(r, http.StatusServiceUnavailable, given{
		[]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"ServiceUnavailable","code":503}`),
		"application/json"})
}

func answer(r *http.Request, status int, g given) *http.Response {
	return &http.Response{StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1,
		ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {g.contentType}}, Body: io.NopCloser(bytes.NewReader(g.body)),
		ContentLength: int64(len(g.body))}
}

// die ends this process with the signal that no process can catch.
func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // until it takes effect
}

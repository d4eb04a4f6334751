package content

import (
	"context"
	"crypto/x509"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// manifest is the least that passes for a release file.
const manifest = "apiVersion: v1\nkind: Namespace\n"

// fetchServer answers over TLS with what answer says for the n-th request.
func fetchServer(t *testing.T, answer func(n int64, w http.ResponseWriter)) (*httptest.Server, *atomic.Int64) {
	t.Helper()
	var n atomic.Int64
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		answer(n.Add(1), w)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // clients that leave
	t.Cleanup(server.Close)
	return server, &n
}

func TestFetch(t *testing.T) {
	status := func(code int) func(int64, http.ResponseWriter) {
		return func(_ int64, w http.ResponseWriter) { w.WriteHeader(code) }
	}
	cases := []struct {
		name     string
		answer   func(int64, http.ResponseWriter)
		requests int64
		want     string // of the error; empty: success
		hint     string
		retry    bool
	}{
		{"ok", func(_ int64, w http.ResponseWriter) { w.Write([]byte(manifest)) }, 1, "", "", false},
		{"well at the second attempt", func(n int64, w http.ResponseWriter) {
			if n == 1 {
				w.WriteHeader(http.StatusBadGateway)
				return
			}
			w.Write([]byte(manifest))
		}, 2, "", "", false},
		{"never well", status(http.StatusServiceUnavailable), 3, "503 Service Unavailable", "Try again", true},
		{"not found", status(http.StatusNotFound), 1, "404 Not Found", "Check the address", false},
		{"unauthorized", status(http.StatusUnauthorized), 1, "401 Unauthorized", "credentials", false},
		{"too big", func(_ int64, w http.ResponseWriter) {
			chunk := make([]byte, 1<<20)
			for range maxManifest>>20 + 1 {
				w.Write(chunk)
			}
		}, 1, "more than", "Check the address", false},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			server, n := fetchServer(t, tc.answer)
			f := &HTTPFetcher{Client: server.Client(), Backoff: time.Millisecond}
			u, _ := url.Parse(server.URL + "/x.yaml")
			u.User = url.UserPassword("me", "s3cret")
			data, err := f.Fetch(context.Background(), u.String())
			if n.Load() != tc.requests {
				t.Errorf("%d requests, want %d", n.Load(), tc.requests)
			}
			if tc.want == "" {
				if err != nil || string(data) != manifest {
					t.Errorf("got %q, %v", data, err)
				}
				return
			}
			checkUnreadable(t, err, tc.want, tc.hint)
			if fault.CanRetry(err) != tc.retry {
				t.Errorf("can retry: %v, want %v", fault.CanRetry(err), tc.retry)
			}
			if strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), "/x.yaml") {
				t.Errorf("error %q must name the URL without its password", err)
			}
		})
	}
}

// checkUnreadable fails unless err is a fault SourceUnreadable with these parts.
func checkUnreadable(t *testing.T, err error, message, hint string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	if fault.CodeOf(err) != fault.SourceUnreadable {
		t.Errorf("code %q, want %q", fault.CodeOf(err), fault.SourceUnreadable)
	}
	if !strings.Contains(err.Error(), message) {
		t.Errorf("error %q lacks %q", err, message)
	}
	if !strings.Contains(fault.HintOf(err), hint) || fault.HintOf(err) == "" {
		t.Errorf("hint %q lacks %q", fault.HintOf(err), hint)
	}
}

func TestFetchUntrustedCertificateIsNotTriedAgain(t *testing.T) {
	server, n := fetchServer(t, func(int64, http.ResponseWriter) {})
	strange := server.Client()
	strange.Transport.(*http.Transport).TLSClientConfig.RootCAs = x509.NewCertPool()
	f := &HTTPFetcher{Client: strange, Backoff: time.Hour}
	_, err := f.Fetch(context.Background(), server.URL)
	checkUnreadable(t, err, "certificate", "certificate")
	if n.Load() != 0 {
		t.Errorf("%d requests passed", n.Load())
	}
}

func TestFetchCache(t *testing.T) {
	server, n := fetchServer(t, func(_ int64, w http.ResponseWriter) { w.Write([]byte(manifest)) })
	dir := t.TempDir()
	for _, tc := range []struct {
		path string
		want int64
	}{{"/v1/x.yaml", 1}, {"/releases/latest/download/x.yaml", 2}} {
		n.Store(0)
		for range 2 {
			f := &HTTPFetcher{Client: server.Client(), CacheDir: dir}
			if data, err := f.Fetch(context.Background(), server.URL+tc.path); err != nil || string(data) != manifest {
				t.Fatalf("%q, %v", data, err)
			}
		}
		if n.Load() != tc.want {
			t.Errorf("%s: %d requests for two fetches, want %d", tc.path, n.Load(), tc.want)
		}
	}
}

func TestFetchEndsWithItsContext(t *testing.T) {
	server, n := fetchServer(t, func(_ int64, w http.ResponseWriter) { w.WriteHeader(http.StatusBadGateway) })
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	f := &HTTPFetcher{Client: server.Client(), Backoff: time.Hour}
	if _, err := f.Fetch(ctx, server.URL); err == nil {
		t.Error("no error from a fetch whose context ended")
	}
	if n.Load() > 1 {
		t.Errorf("%d requests", n.Load())
	}
}

func TestProxies(t *testing.T) {
	choose := Proxies{HTTPS: "http://proxy.example:3128", No: ".internal,10.0.0.0/8"}.Proxy()
	for address, want := range map[string]string{
		"https://example.org/x": "http://proxy.example:3128",
		"https://git.internal":  "",
		"https://10.1.2.3/x":    "",
	} {
		req, err := http.NewRequest(http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := choose(req)
		if err != nil {
			t.Fatal(err)
		}
		if got == nil {
			got = &url.URL{}
		}
		if got.String() != want {
			t.Errorf("%s goes through %q, want %q", address, got, want)
		}
	}
}

// An answer whose YAML multiplies itself is refused.
func TestAnAnswerIsReadWithinBounds(t *testing.T) {
	answer := "apiVersion: v1\nkind: ConfigMap\n" +
		"a: &a " + strings.Repeat("x", 1<<20) + "\nb: [" + strings.Repeat("*a,", 100) + "]\n"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, answer)
	}))
	defer server.Close()
	f := &HTTPFetcher{Client: server.Client(), Backoff: time.Millisecond}
	_, err := f.Fetch(t.Context(), server.URL+"/a.yaml")
	if fault.CodeOf(err) != fault.SourceUnreadable || !strings.Contains(err.Error(), "too large") {
		t.Errorf("got %v", err)
	}
}

// No hop of a redirect from https goes without TLS, even if the last one has it again.
func TestNoHopWithoutTLS(t *testing.T) {
	var last string
	asked := false
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = true
		http.Redirect(w, r, last, http.StatusFound)
	}))
	defer plain.Close()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/last" {
			_, _ = io.WriteString(w, "apiVersion: v1\nkind: ConfigMap\n")
			return
		}
		http.Redirect(w, r, plain.URL, http.StatusFound)
	}))
	defer server.Close()
	last = server.URL + "/last"
	f := &HTTPFetcher{Client: server.Client(), Backoff: time.Millisecond}
	if _, err := f.Fetch(t.Context(), server.URL+"/a.yaml"); fault.CodeOf(err) != fault.SourceUnreadable || asked {
		t.Errorf("the hop was asked: %t; got %v", asked, err)
	}
}

package content

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const portal = "<!DOCTYPE html>\n<html><body>Please sign in</body></html>\n"

// archive packs files as a release does.
func archive(t *testing.T, files Tree) string {
	t.Helper()
	data, err := files.tarGz()
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func zipped(t *testing.T, data string) string {
	t.Helper()
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	_, err := io.WriteString(w, data)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

// What comes in place of a release file is neither returned nor kept, whether a digest is pinned or not.
func TestNothingUnverifiedIsKept(t *testing.T) {
	flux := archive(t, Tree{"source-controller.yaml": []byte(manifest)})
	const html, yaml, tgz = "web page", "/v1/x.yaml", "/v1/manifests.tar.gz"
	for _, tc := range []struct {
		name, path, body string
		pinned           string // content whose digest is pinned; empty: none
		want             string // of the error; empty: passes
	}{
		{"portal in place of a manifest", yaml, portal, "", html},
		{"portal in place of a pinned manifest", yaml, portal, manifest, html},
		{"portal in place of the archive", tgz, portal, "", html},
		{"portal in place of the pinned archive", tgz, portal, flux, html},
		{"page after a byte order mark", yaml, "\ufeff\n" + portal, "", html},
		{"text", yaml, "Please sign in.\n", "", "document 1 of the answer is not a Kubernetes object"},
		{"JSON of a proxy", yaml, `{"error": "blocked"}`, "", "document 1 of the answer is not a Kubernetes object"},
		{"list", yaml, "- a\n- b\n", "", "document 1 of the answer is not a Kubernetes object"},
		{"apiVersion that is none", yaml, "apiVersion: {a: b}\nkind: Namespace\n", "",
			"document 1 of the answer is not a Kubernetes object"},
		{"nothing", yaml, "", "", "no Kubernetes object"},
		{"comments only", yaml, "# nothing\n---\n# here\n", "", "no Kubernetes object"},
		{"object, then a message", yaml, manifest + "---\nmessage: quota exceeded\n", "",
			"document 2 of the answer is not a Kubernetes object"},
		{"no YAML", yaml, manifest + "\t: [\n", "", "as YAML"},
		{"another manifest than the pinned one", yaml, manifest + "metadata: {name: evil}\n", manifest,
			"SHA-256 digest of the answer is " + Sum([]byte(manifest+"metadata: {name: evil}\n"))},
		{"archive in place of a manifest", yaml, flux, "", "as YAML"},
		{"manifest in place of the archive", tgz, manifest, "", "as gzip"},
		{"zipped page in place of the archive", tgz, zipped(t, portal), "", "as a tar archive"},
		{"archive without files", tgz, archive(t, Tree{}), "", "contains no file"},
		{"archive that is interrupted", tgz, flux[:len(flux)-12], "", "unexpected EOF"},
		{"archive without its checksum", tgz, flux[:len(flux)-8], "", "as gzip"},
		{"another archive than the pinned one", tgz, flux, flux + "x", "sums.txt has " + Sum([]byte(flux+"x"))},

		{"manifest", yaml, manifest, "", ""},
		{"pinned manifest", yaml, manifest, manifest, ""},
		{"manifest in JSON", yaml, `{"apiVersion": "v1", "kind": "Namespace"}`, "", ""},
		{"manifest with empty documents and variables", yaml, "# x\n---\n" + manifest +
			"spec: {}\nx: ${X:=1}\n---\n---\n" + manifest, "", ""},
		{"archive", tgz, flux, "", ""},
		{"pinned archive", tgz, flux, flux, ""},
		{"pinned file of any form", yaml, portal, portal, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server, n := fetchServer(t, func(_ int64, w http.ResponseWriter) { io.WriteString(w, tc.body) })
			f := &HTTPFetcher{Client: server.Client(), CacheDir: t.TempDir(), Backoff: time.Hour}
			if tc.pinned != "" {
				f.Sums = Sums{server.URL + tc.path: Sum([]byte(tc.pinned))}
			}
			data, err := f.Fetch(context.Background(), server.URL+tc.path)
			if n.Load() != 1 {
				t.Errorf("%d requests: a wrong answer is not asked for again", n.Load())
			}
			kept, _ := filepath.Glob(filepath.Join(f.CacheDir, "*"))
			if tc.want == "" {
				if err != nil || string(data) != tc.body || len(kept) != 1 {
					t.Errorf("got %q (%v), %d kept", data, err, len(kept))
				}
				return
			}
			if len(data) != 0 || len(kept) != 0 {
				t.Errorf("returned %q, kept %v", data, kept)
			}
			checkUnreadable(t, err, tc.want, "captive portal")
			if !strings.Contains(err.Error(), tc.path) {
				t.Errorf("%q does not name the URL", err)
			}
		})
	}
}

// What an earlier version, another program or a full disk left in the cache counts no more than an answer does.
func TestCacheIsVerified(t *testing.T) {
	const path = "/v1/x.yaml"
	changed := manifest + "metadata: {name: evil}\n"
	for _, tc := range []struct {
		name, cached string
		pinned       bool
		requests     int64
		want         string
	}{
		{"right and pinned", manifest, true, 0, manifest},
		{"changed, pinned", changed, true, 1, manifest},
		{"portal's page, pinned", portal, true, 1, manifest},
		{"interrupted, pinned", manifest[:20], true, 1, manifest},
		{"portal's page, kept before digests were checked", portal, false, 1, manifest},
		{"empty file", "", false, 1, manifest},
		{"well-formed, not pinned", changed, false, 0, changed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server, n := fetchServer(t, func(_ int64, w http.ResponseWriter) { io.WriteString(w, manifest) })
			dir := t.TempDir()
			// As every version of cluster-init names it.
			file := filepath.Join(dir, fmt.Sprintf("%x", sha256.Sum256([]byte(server.URL+path))))
			if err := os.WriteFile(file, []byte(tc.cached), 0o600); err != nil {
				t.Fatal(err)
			}
			f := &HTTPFetcher{Client: server.Client(), CacheDir: dir}
			if tc.pinned {
				f.Sums = Sums{server.URL + path: Sum([]byte(manifest))}
			}
			data, err := f.Fetch(context.Background(), server.URL+path)
			if err != nil || string(data) != tc.want || n.Load() != tc.requests {
				t.Errorf("got %q (%v) with %d requests, want %q with %d", data, err, n.Load(), tc.want, tc.requests)
			}
			if kept, err := os.ReadFile(file); err != nil || string(kept) != tc.want {
				t.Errorf("the cache holds %q (%v), want %q", kept, err, tc.want)
			}
		})
	}
}

// A poisoned cache is not a way around a server that answers wrongly, or not at all.
func TestPoisonedCacheIsNeverReturned(t *testing.T) {
	for name, answer := range map[string]func(int64, http.ResponseWriter){
		"portal":      func(_ int64, w http.ResponseWriter) { io.WriteString(w, portal) },
		"unavailable": func(_ int64, w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) },
	} {
		t.Run(name, func(t *testing.T) {
			server, _ := fetchServer(t, answer)
			f := &HTTPFetcher{Client: server.Client(), CacheDir: t.TempDir(), Backoff: time.Millisecond}
			address := server.URL + "/v1/x.yaml"
			f.Sums = Sums{address: Sum([]byte(manifest))}
			if err := os.WriteFile(f.cacheFile(address), []byte(portal), 0o600); err != nil {
				t.Fatal(err)
			}
			if data, err := f.Fetch(context.Background(), address); err == nil {
				t.Errorf("got %q", data)
			}
		})
	}
}

// A connection that breaks in the middle of a body is tried again, as one that breaks before it is.
func TestTruncatedBody(t *testing.T) {
	for _, tc := range []struct {
		name     string
		whole    int64 // the request that is answered whole; 0: none
		requests int64
	}{{"once", 2, 2}, {"always", 0, 3}} {
		t.Run(tc.name, func(t *testing.T) {
			server, n := fetchServer(t, func(n int64, w http.ResponseWriter) {
				w.Header().Set("Content-Length", strconv.Itoa(len(manifest)))
				if n == tc.whole {
					io.WriteString(w, manifest)
					return
				}
				io.WriteString(w, manifest[:len(manifest)/2])
			})
			f := &HTTPFetcher{Client: server.Client(), CacheDir: t.TempDir(), Backoff: time.Millisecond}
			data, err := f.Fetch(context.Background(), server.URL+"/v1/x.yaml")
			if n.Load() != tc.requests {
				t.Errorf("%d requests, want %d", n.Load(), tc.requests)
			}
			if tc.whole != 0 {
				if err != nil || string(data) != manifest {
					t.Errorf("got %q (%v)", data, err)
				}
				return
			}
			checkUnreadable(t, err, "unexpected EOF", "")
			if kept, _ := filepath.Glob(filepath.Join(f.CacheDir, "*")); len(kept) != 0 || len(data) != 0 {
				t.Errorf("returned %q, kept %v", data, kept)
			}
		})
	}
}

// A portal that redirects to its own page without TLS is not followed into accepting what it serves.
func TestRedirectWithoutTLS(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(
		func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, manifest) }))
	t.Cleanup(plain.Close)
	server := httptest.NewTLSServer(http.RedirectHandler(plain.URL, http.StatusFound))
	t.Cleanup(server.Close)
	f := &HTTPFetcher{Client: server.Client(), Backoff: time.Hour}
	_, err := f.Fetch(context.Background(), server.URL+"/v1/x.yaml")
	checkUnreadable(t, err, "without TLS", "captive portal")
}

func TestUnpinned(t *testing.T) {
	f := &HTTPFetcher{Sums: Sums{"https://example.org/b": Sum(nil)}}
	urls := []string{"https://example.org/c", "https://example.org/b", "https://example.org/a"}
	if got, want := f.Unpinned(urls), []string{urls[0], urls[2]}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

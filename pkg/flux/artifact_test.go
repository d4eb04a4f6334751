package flux_test

import (
	"crypto/sha256"
	"crypto/sha512"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/internal/kubeconfig"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

func TestArtifactPath(t *testing.T) {
	for address, want := range map[string]string{
		"http://source-controller.flux-system.svc.cluster.local./gitrepository/a/b/c.tar.gz": "/api/v1/namespaces/flux-system/services/http:source-controller:80/proxy/gitrepository/a/b/c.tar.gz",
		"http://sources.apps:9090/a%2Fb":          "/api/v1/namespaces/apps/services/http:sources:9090/proxy/a%2Fb",
		"http://localhost/gitrepository/c.tar.gz": "",
	} {
		if got, err := flux.ArtifactPath(address); got != want || err != nil {
			t.Errorf("%s: %q, %v", address, got, err)
		}
	}
	if _, err := flux.ArtifactPath("http://a b/"); err == nil {
		t.Error("no address is taken for one")
	}
}

func TestReadArtifact(t *testing.T) {
	const content, address = "content", "http://source-controller.flux-system.svc.cluster.local./a.tar.gz"
	const path = "/api/v1/namespaces/flux-system/services/http:source-controller:80/proxy/a.tar.gz"
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != path {
			t.Errorf("request for %s", r.URL.Path)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(content))
	}))
	t.Cleanup(server.Close)
	c, err := kube.Connect("management", kubeconfig.Of(t, "", server.URL), runtime.NewScheme())
	if err != nil {
		t.Fatal(err)
	}
	sha256sum := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(content)))
	sha512sum := fmt.Sprintf("sha512:%x", sha512.Sum512([]byte(content)))
	ok := meta.Artifact{URL: address, Digest: sha256sum}
	for name, tc := range map[string]struct {
		artifact meta.Artifact
		most     int64
		status   int
		want     string // in the error; empty: it is read
	}{
		"sha256": {ok, 7, http.StatusOK, ""},
		"sha512": {meta.Artifact{URL: address, Digest: sha512sum}, 7, http.StatusOK, ""},
		"another digest": {meta.Artifact{URL: address, Digest: "sha256:00"}, 7, http.StatusOK,
			"but Flux reports sha256:00"},
		"no digest":  {meta.Artifact{URL: address}, 7, http.StatusOK, "not supported"},
		"it is lost": {ok, 7, http.StatusNotFound, "404 Not Found"},
		"no Service": {meta.Artifact{URL: "http://localhost/a"}, 7, http.StatusOK, "not that of a Service"},
		"too large":  {ok, 6, http.StatusOK, "more than 6 bytes"},
		"says too large": {meta.Artifact{URL: "http://localhost/a", Size: ptr.To[int64](7)}, 6, http.StatusOK,
			"has 7 bytes"},
	} {
		status = tc.status
		got, err := flux.ReadArtifact(t.Context(), c, &tc.artifact, tc.most)
		if tc.want == "" && (err != nil || string(got) != content) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
		if tooLarge := errors.Is(err, flux.ErrArtifactTooLarge); tooLarge != (tc.most < 7) {
			t.Errorf("%s: too large: %t", name, tooLarge)
		}
	}
}

//go:build integration

package fluxserver

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"sync"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/flux"
)

// Source is the GitRepository that Flux's Kustomizations read from, without a source-controller: the test says what it
// holds.
type Source struct {
	server *httptest.Server
	mu     sync.Mutex
	files  map[string][]byte // archives by path
	client Server
}

// NewSource makes the GitRepository, until the test ends.
func (s Server) NewSource(ctx context.Context, t *testing.T) *Source {
	t.Helper()
	source := &Source{files: map[string][]byte{}, client: s}
	source.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		source.mu.Lock()
		defer source.mu.Unlock()
		content, found := source.files[r.URL.Path]
		if !found {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(content)
	}))
	t.Cleanup(source.server.Close)
	repository := flux.GitRepository(flux.GitSource{URL: "https://git.example.org/platform.git", Branch: "main"})
	s.Create(ctx, t, repository)
	t.Cleanup(func() { _ = s.Client.Delete(context.WithoutCancel(ctx), repository) })
	return source
}

// Commit has the repository hold these files, and returns the revision.
func (s *Source) Commit(ctx context.Context, t *testing.T, files map[string]string) string {
	t.Helper()
	archive := archiveOf(t, files)
	sum := fmt.Sprintf("%x", sha256.Sum256(archive))
	at, revision := "/"+sum+".tar.gz", "main@sha1:"+sum[:40]
	s.mu.Lock()
	s.files[at] = archive
	s.mu.Unlock()
	repository := &sourcev1.GitRepository{}
	repository.Namespace, repository.Name = flux.Namespace, flux.ReleaseName
	if err := s.client.Client.Get(ctx, client.ObjectKeyFromObject(repository), repository); err != nil {
		t.Fatal(err)
	}
	repository.Status.ObservedGeneration = repository.Generation
	repository.Status.Artifact = &meta.Artifact{URL: s.server.URL + at, Path: path.Base(at), Revision: revision,
		Digest: "sha256:" + sum, LastUpdateTime: metav1.Now()}
	repository.Status.Conditions = []metav1.Condition{{Type: meta.ReadyCondition, Status: metav1.ConditionTrue,
		Reason: meta.SucceededReason, Message: "stored", LastTransitionTime: metav1.Now(),
		ObservedGeneration: repository.Generation}}
	if err := s.client.Client.Status().Update(ctx, repository); err != nil {
		t.Fatal(err)
	}
	return revision
}

func archiveOf(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	all := tar.NewWriter(zip)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := all.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644,
			Size: int64(len(files[name]))}); err != nil {
			t.Fatal(err)
		}
		if _, err := all.Write([]byte(files[name])); err != nil {
			t.Fatal(err)
		}
	}
	for _, closer := range []interface{ Close() error }{all, zip} {
		if err := closer.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

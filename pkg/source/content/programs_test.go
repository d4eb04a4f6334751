package content

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/distribution"
	"github.com/cluster-init/cluster-init/pkg/machineadm"
)

// Machines fetch published programs by digest from the registry alone.
func TestPublishPrograms(t *testing.T) {
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "program "+r.URL.Path)
	}))
	source := func(path string) machineadm.Source {
		sum := sha256.Sum256([]byte("program " + path))
		return machineadm.Source{URL: origin.URL + path, SHA256: hex.EncodeToString(sum[:])}
	}
	files := []machineadm.KubernetesFile{
		{Path: "/usr/local/bin/kubeadm", Sources: map[string]machineadm.Source{"amd64": source("/a"), "arm64": source("/b")}},
		{Path: "/opt/cni/bin", Archive: true, Sources: map[string]machineadm.Source{"amd64": source("/c")}},
	}
	r := distribution.Start(t)
	fetcher := machineadm.Fetcher{Patience: time.Millisecond, Delay: time.Millisecond}
	repository, err := PublishPrograms(t.Context(), target(r), "v1.36.4", files, fetcher, nil)
	if err != nil || repository != r.Host+"/cluster-init/kubernetes" {
		t.Fatalf("%s, %v", repository, err)
	}
	origin.Close()
	for _, file := range files {
		for arch, s := range file.Sources {
			s.URL = "http://" + r.Host + "/v2/cluster-init/kubernetes/blobs/sha256:" + s.SHA256
			if _, err := fetcher.Fetch(t.Context(), nil, s, t.TempDir()); err != nil {
				t.Errorf("%s for %s: %v", file.Path, arch, err)
			}
		}
	}
	_, err = PublishPrograms(t.Context(), target(r), "v1.36.4", files, fetcher, nil)
	const want = "publish /usr/local/bin/kubeadm: fetch http"
	if fault.CodeOf(err) != fault.SourceUnreadable || !strings.Contains(err.Error(), want) {
		t.Errorf("without its origin: %v", err)
	}
}

package content

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
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
	programs := Programs{Files: files, Fetcher: fetcher}
	address, err := ProgramsAddress(r.Host, true)
	if err != nil || address != "http://"+r.Host+"/v2/cluster-init/kubernetes/blobs" {
		t.Fatalf("%s, %v", address, err)
	}
	publish := func(arch string) error { return PublishPrograms(t.Context(), target(r), programs, arch) }
	err = publish("arm64")
	const lacks = "/opt/cni/bin has no source for arm64"
	if fault.CodeOf(err) != fault.ValuesInvalid || !strings.Contains(err.Error(), lacks) {
		t.Errorf("%v, want %s", err, lacks)
	}
	if err := errors.Join(publish("amd64"), publish("")); err != nil {
		t.Fatal(err)
	}
	origin.Close()
	slices.Reverse(programs.Files)
	if err := publish(""); err != nil { // what is there is not fetched again
		t.Error(err)
	}
	for _, file := range files {
		for arch, s := range file.Sources {
			s.URL = address + "/sha256:" + s.SHA256
			if _, err := fetcher.Fetch(t.Context(), nil, s, t.TempDir()); err != nil {
				t.Errorf("%s for %s: %v", file.Path, arch, err)
			}
		}
	}
	added := source("/d")
	programs.Files = append(programs.Files, machineadm.KubernetesFile{Path: "/usr/local/bin/kubelet",
		Sources: map[string]machineadm.Source{"amd64": added}})
	err = publish("")
	const want = "publish /usr/local/bin/kubelet: fetch http"
	if fault.CodeOf(err) != fault.SourceUnreadable || !strings.Contains(err.Error(), want) {
		t.Errorf("without its origin: %v", err)
	}
}

// A file with another digest is not published, and the hint does not say that the network is at fault.
func TestPublishProgramsWithAnotherDigest(t *testing.T) {
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "another program")
	}))
	defer origin.Close()
	r := distribution.Start(t)
	programs := Programs{Files: []machineadm.KubernetesFile{{Path: "/usr/local/bin/kubeadm",
		Sources: map[string]machineadm.Source{"amd64": {URL: origin.URL, SHA256: strings.Repeat("0", 64)}}}}}
	err := PublishPrograms(t.Context(), target(r), programs, "")
	const want = "publish /usr/local/bin/kubeadm: the digest of http"
	if fault.CodeOf(err) != fault.SourceUnreadable || !strings.Contains(err.Error(), want) ||
		fault.HintOf(err) != hintChanged || r.Writes.Load() > 0 {
		t.Errorf("%v, after %d writes", err, r.Writes.Load())
	}
}

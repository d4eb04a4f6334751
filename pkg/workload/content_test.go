package workload

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// A component whose folder is not in the source is refused before anything is made. A source that cannot be read refuses
// nothing.
func TestComponentsThatTheSourceLacks(t *testing.T) {
	const cluster, inside = "kustomize-components/cluster/kubeadm-capd/", "kustomize-components/flux/"
	const checks = "kustomize-components/health-checks/"
	for name, tc := range map[string]struct {
		has    []string // folders
		status int
		want   string // empty: it is not refused
	}{
		"all":            {[]string{cluster, checks, inside}, http.StatusOK, ""},
		"no Flux":        {[]string{cluster, checks}, http.StatusOK, "./kustomize-components/flux, the folder of component shop-flux"},
		"no definition":  {[]string{inside, checks}, http.StatusOK, "cluster/kubeadm-capd, the folder of component shop-cluster"},
		"cannot be read": {nil, http.StatusServiceUnavailable, ""},
	} {
		archive := packed(t, tc.has)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(tc.status)
			_, _ = w.Write(archive)
		}))
		defer server.Close()
		err := Cluster{Environment: shop(t, "cni=none", "components.flux.enabled=true"),
			Management: managementWith(t, server.URL, archive)}.checkContent(t.Context())
		if tc.want == "" && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if tc.want != "" && (fault.CodeOf(err) != fault.ComponentUnknown || !strings.Contains(err.Error(), tc.want) ||
			!strings.Contains(fault.HintOf(err), "workload-only")) {
			t.Errorf("%s: %v (hint %q), want %q", name, err, fault.HintOf(err), tc.want)
		}
	}
}

// packed is an archive with a manifest in each folder.
func packed(t *testing.T, folders []string) []byte {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	archive := tar.NewWriter(zip)
	for _, folder := range folders {
		if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: folder + "kustomization.yaml",
			Mode: 0o600}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(archive.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// managementWith is a management cluster whose source has an archive, which the server at address serves.
func managementWith(t *testing.T, address string, archive []byte) *kube.Cluster {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := flux.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	release, err := flux.HelmRelease(flux.Release{})
	if err != nil {
		t.Fatal(err)
	}
	release.Spec.Values = &apiextensionsv1.JSON{Raw: []byte(`{"source":{"kind":"OCIRepository","name":"telco-cloud-init"}}`)}
	source := flux.ContentSource(flux.OCIArtifact{URL: "oci://registry/x", Digest: "sha256:0"})
	source.Status = sourcev1.OCIRepositoryStatus{Artifact: &meta.Artifact{
		URL:    "http://source-controller.flux-system.svc.cluster.local./a.tar.gz",
		Digest: fmt.Sprintf("sha256:%x", sha256.Sum256(archive))}}
	return &kube.Cluster{Name: "management", Config: &rest.Config{Host: address},
		Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(release, source).Build()}
}

package cleanup_test

import (
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/cleanup"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// management is an API server that has these Clusters, and answers what does not go otherwise with code.
func management(t *testing.T, code int, clusters string) (kubeconfig string) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		const group = `"cluster.x-k8s.io"`
		switch {
		case r.URL.Path == "/readyz":
			w.WriteHeader(code)
		case r.URL.Path == "/api":
			fmt.Fprint(w, `{"kind": "APIVersions", "versions": ["v1"]}`)
		case r.URL.Path == "/apis":
			fmt.Fprint(w, `{"kind": "APIGroupList", "apiVersion": "v1", "groups": [{"name": `+group+`, "versions": [{"groupVersion": "cluster.x-k8s.io/v1beta2", "version": "v1beta2"}], "preferredVersion": {"groupVersion": "cluster.x-k8s.io/v1beta2", "version": "v1beta2"}}]}`)
		case r.URL.Path == "/apis/cluster.x-k8s.io":
			fmt.Fprint(w, `{"kind": "APIGroup", "apiVersion": "v1", "name": `+group+`, "versions": [{"groupVersion": "cluster.x-k8s.io/v1beta2", "version": "v1beta2"}]}`)
		case r.URL.Path == "/apis/cluster.x-k8s.io/v1beta2":
			fmt.Fprint(w, `{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "cluster.x-k8s.io/v1beta2", "resources": [{"name": "clusters", "singularName": "cluster", "namespaced": true, "kind": "Cluster", "verbs": ["list"]}]}`)
		case r.URL.Path == "/apis/cluster.x-k8s.io/v1beta2/clusters" && clusters != "403":
			fmt.Fprint(w, `{"kind": "ClusterList", "apiVersion": "cluster.x-k8s.io/v1beta2", "metadata": {}, "items": [`+clusters+`]}`)
		default:
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403, "message": "not yours"}`)
		}
	}))
	t.Cleanup(server.Close)
	ca := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	return fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, context: {cluster: a, user: a}}], users: [{name: a}],
clusters: [{name: a, cluster: {server: %q, certificate-authority-data: %s}}]}`, server.URL, ca)
}

func TestCheckManagement(t *testing.T) {
	in := func(namespace, name string) string {
		return `{"kind": "Cluster", "apiVersion": "cluster.x-k8s.io/v1beta2", "metadata": {"namespace": "` + namespace + `", "name": "` + name + `"}}`
	}
	one := func(name string) string { return in("ns", name) }
	for name, tc := range map[string]struct {
		kubeconfig string
		refused    bool
		answers    bool
	}{
		"no kubeconfig":                     {},
		"half a kubeconfig":                 {kubeconfig: "{apiVersion: v1"},
		"nobody answers":                    {kubeconfig: strings.ReplaceAll(management(t, 200, one("a")), "https://127.0.0.1", "https://127.0.0.2")},
		"it is not ready":                   {kubeconfig: management(t, 500, one("a")), refused: true},
		"it does not know who asks":         {kubeconfig: management(t, 401, one("a")), refused: true},
		"it manages itself":                 {kubeconfig: management(t, 200, one("a")), refused: true},
		"it does so in another namespace":   {kubeconfig: management(t, 200, in("elsewhere", "a")), refused: true},
		"it does not have its own Cluster":  {kubeconfig: management(t, 200, one("workload")), answers: true},
		"it does not tell what it manages":  {kubeconfig: management(t, 200, "403"), refused: true},
		"it has more clusters than its own": {kubeconfig: management(t, 200, one("workload")+","+one("a")), refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "kubeconfig")
			if tc.kubeconfig != "" {
				if err := os.WriteFile(path, []byte(tc.kubeconfig), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			asked, err := cleanup.CheckManagement(t.Context(), path, target)
			if asked != (tc.answers || tc.refused) {
				t.Errorf("asked: %v", asked)
			}
			if (fault.CodeOf(err) == fault.CleanupRefused) != tc.refused || !tc.refused && err != nil {
				t.Fatal(err)
			}
			if tc.refused && !strings.Contains(fault.HintOf(err), "--force a") {
				t.Errorf("hint %q", fault.HintOf(err))
			}
		})
	}
}

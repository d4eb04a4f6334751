package clusters

import (
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/cluster-init/cluster-init/pkg/internal/kubeconfig"
)

// standIn is an API server of the authority "ours", with Cluster API's Clusters and their kubeconfigs.
type standIn struct {
	address string
	token   string // the only one that it accepts; empty: anybody's
	holds   bool   // the Cluster of the test
	kept    []byte // the kubeconfig of that Cluster; nil: it has none
	asked   atomic.Int64
	scope   string // the Cluster's namespace/name
}

// newStandIn has an API server for the Cluster namespace/name.
func newStandIn(t *testing.T, scope string) *standIn {
	t.Helper()
	s := &standIn{scope: scope, holds: true}
	server := httptest.NewUnstartedServer(http.HandlerFunc(s.answer))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of clients that do not trust its certificate
	server.TLS = &tls.Config{Certificates: []tls.Certificate{kubeconfig.Serving(t, "ours", "127.0.0.1", "172.18.0.3")}}
	server.StartTLS()
	t.Cleanup(server.Close)
	s.address = server.URL
	return s
}

// with is a kubeconfig with a token, of the authority "ours".
func (s *standIn) with(t *testing.T, token string) []byte {
	t.Helper()
	return kubeconfig.Of(t, "ours", s.address,
		func(_ *api.Cluster, u *api.AuthInfo) { *u = api.AuthInfo{Token: token} })
}

func (s *standIn) answer(w http.ResponseWriter, r *http.Request) {
	s.asked.Add(1)
	w.Header().Set("Content-Type", "application/json")
	status := func(code int, reason string) {
		w.WriteHeader(code)
		_, _ = fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d}`, reason,
			code)
	}
	namespace, name, _ := strings.Cut(s.scope, "/")
	const group = `"name":%q,"versions":[{"groupVersion":"%s/%s","version":%q}],"preferredVersion":{"groupVersion":"%s/%s","version":%q}`
	capi := fmt.Sprintf(group, "cluster.x-k8s.io", "cluster.x-k8s.io", "v1beta2", "v1beta2", "cluster.x-k8s.io",
		"v1beta2", "v1beta2")
	extensions := fmt.Sprintf(group, "apiextensions.k8s.io", "apiextensions.k8s.io", "v1", "v1", "apiextensions.k8s.io",
		"v1", "v1")
	const resources = `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":%q,"resources":[{"name":%q,"singularName":"","namespaced":%t,"kind":%q,"verbs":["get","list"]}]}`
	switch path := r.URL.Path; {
	case r.Header.Get("Authorization") != "Bearer "+s.token && s.token != "":
		status(http.StatusUnauthorized, "Unauthorized")
	case path == "/readyz":
	case path == "/api":
		_, _ = io.WriteString(w, `{"kind":"APIVersions","versions":["v1"]}`)
	case path == "/apis":
		_, _ = fmt.Fprintf(w, `{"kind":"APIGroupList","apiVersion":"v1","groups":[{%s},{%s}]}`, capi, extensions)
	case path == "/api/v1":
		_, _ = fmt.Fprintf(w, resources, "v1", "secrets", true, "Secret")
	case path == "/apis/cluster.x-k8s.io":
		_, _ = fmt.Fprintf(w, `{"kind":"APIGroup","apiVersion":"v1",%s}`, capi)
	case path == "/apis/apiextensions.k8s.io":
		_, _ = fmt.Fprintf(w, `{"kind":"APIGroup","apiVersion":"v1",%s}`, extensions)
	case path == "/apis/cluster.x-k8s.io/v1beta2":
		_, _ = fmt.Fprintf(w, resources, "cluster.x-k8s.io/v1beta2", "clusters", true, "Cluster")
	case path == "/apis/apiextensions.k8s.io/v1":
		_, _ = fmt.Fprintf(w, resources, "apiextensions.k8s.io/v1", "customresourcedefinitions", false,
			"CustomResourceDefinition")
	case strings.HasSuffix(path, "/customresourcedefinitions"):
		_,
			_ = io.WriteString(
			w,
			`{"kind":"CustomResourceDefinitionList","apiVersion":"apiextensions.k8s.io/v1","metadata":{},"items":[]}`)
	case strings.HasSuffix(path, "/clusters"):
		item := ""
		if s.holds {
			item = fmt.Sprintf(
				`{"kind":"Cluster","apiVersion":"cluster.x-k8s.io/v1beta2","metadata":{"name":%q,"namespace":%q,"uid":"1","labels":{"cluster-init.io/cluster":%q}}}`, name, namespace, name)
		}
		_,
			_ = fmt.Fprintf(
			w, `{"kind":"ClusterList","apiVersion":"cluster.x-k8s.io/v1beta2","metadata":{},"items":[%s]}`, item)
	case path == "/api/v1/namespaces/"+namespace+"/secrets/"+name+"-kubeconfig" && s.kept != nil:
		_ = json.NewEncoder(w).Encode(map[string]any{"kind": "Secret", "apiVersion": "v1",
			"metadata": map[string]string{"name": name + "-kubeconfig", "namespace": namespace},
			"data":     map[string]string{"value": base64.StdEncoding.EncodeToString(s.kept)}})
	default:
		status(http.StatusNotFound, "NotFound")
	}
}

package cleanup_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	gonet "net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/docker"
)

// api is an API server with objects of Cluster API and of Flux.
type api struct {
	ready          int    // HTTP status of its readiness; 0: 200
	clusters       string // items of the list; "403": they may not be listed
	kustomizations string
	release        string // the HelmRelease; "": there is none; "403": it may not be read
	held           bool   // another process renews the lease, at every request for it
	readOnly       bool   // the account may only read the lease
	unleased       bool   // the account may not read the lease
	bare           bool   // neither Cluster API nor Flux is installed
}

const notFound = `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404,
	"message": "not found"}`

// serve starts a server and returns its kubeconfig.
func (a api) serve(t *testing.T) string {
	t.Helper()
	kinds := map[string]struct{ version, plural, kind, items string }{
		"cluster.x-k8s.io":                {"v1beta2", "clusters", "Cluster", a.clusters},
		"kustomize.toolkit.fluxcd.io":     {"v1", "kustomizations", "Kustomization", a.kustomizations},
		"helm.toolkit.fluxcd.io":          {"v2", "helmreleases", "HelmRelease", ""},
		"infrastructure.cluster.x-k8s.io": {"v1beta2", "devclusters", "DevCluster", ""},
	}
	answers := map[string]string{"/api": `{"kind": "APIVersions", "versions": ["v1"]}`}
	var groups []string
	for group, k := range kinds {
		version := fmt.Sprintf(`{"groupVersion": "%s/%s", "version": %q}`, group, k.version, k.version)
		described := fmt.Sprintf(`"name": %q, "versions": [%s], "preferredVersion": %s`, group, version, version)
		groups = append(groups, "{"+described+"}")
		if a.bare {
			continue
		}
		root := "/apis/" + group
		answers[root] = `{"kind": "APIGroup", "apiVersion": "v1", ` + described + "}"
		answers[root+"/"+k.version] = fmt.Sprintf(
			`{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "%s/%s", "resources": [{"name": %q, "singularName": "", "namespaced": true, "kind": %q, "verbs": ["list"]}]}`,
			group, k.version, k.plural, k.kind)
		if k.items != "403" {
			answers[root+"/"+k.version+"/"+k.plural] = fmt.Sprintf(
				`{"kind": "%sList", "apiVersion": "%s/%s", "metadata": {}, "items": [%s]}`, k.kind, group, k.version,
				k.items)
		}
		if k.plural == "kustomizations" && k.items != "" && k.items != "403" { // it is one, see kustomization
			answers[root+"/"+k.version+"/namespaces/flux-system/kustomizations/cluster"] = k.items
		}
	}
	if a.bare {
		groups = nil
	}
	answers["/apis"] = `{"kind": "APIGroupList", "apiVersion": "v1", "groups": [` + strings.Join(groups, ",") + `]}`
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		answer, known := answers[r.URL.Path]
		switch {
		case r.URL.Path == "/readyz":
			w.WriteHeader(max(a.ready, http.StatusOK))
		case r.Method != http.MethodGet && a.readOnly:
			w.WriteHeader(http.StatusForbidden)
			_,
				_ = io.WriteString(
				w,
				`{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403, "message": "leases is forbidden: you may only look"}`)
		case strings.Contains(r.URL.Path, "/leases/") && a.held:
			_,
				_ = fmt.Fprintf(
				w,
				`{"kind": "Lease", "apiVersion": "coordination.k8s.io/v1", "metadata": {"name": "x"}, "spec": {"holderIdentity": "alice@one", "acquireTime": "2026-01-02T03:04:05.000000Z", "renewTime": %q}}`,
				time.Now().UTC().Format("2006-01-02T15:04:05.000000Z07:00"))
		case strings.Contains(r.URL.Path, "/leases/") && !a.unleased:
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, notFound)
		case known:
			_, _ = io.WriteString(w, answer)
		case a.bare:
			w.WriteHeader(http.StatusNotFound)
		case strings.HasSuffix(r.URL.Path, "/helmreleases/telco-cloud-init") && a.release == "":
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, notFound)
		case strings.HasSuffix(r.URL.Path, "/helmreleases/telco-cloud-init") && a.release != "403":
			_, _ = io.WriteString(w, a.release)
		default:
			w.WriteHeader(http.StatusForbidden)
			_,
				_ = io.WriteString(
				w,
				`{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403, "message": "not yours"}`)
		}
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of clients that do not trust its certificate
	own := certificate(t)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{own}}
	server.StartTLS()
	t.Cleanup(server.Close)
	return kubeconfig(server.URL, own)
}

// certificate creates the certificate of a cluster, which is its own authority.
func certificate(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true,
		DNSNames:              []string{bootstrapNode}, IPAddresses: []gonet.IP{{127, 0, 0, 1}, {127, 0, 0, 2}}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func kubeconfig(address string, of tls.Certificate) string {
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: of.Certificate[0]})
	return fmt.Sprintf(
		`{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, context: {cluster: a, user: a}}], users: [{name: a, user: {token: t}}],
clusters: [{name: a, cluster: {server: %q, certificate-authority-data: %s}}]}`, address, base64.StdEncoding.EncodeToString(authority))
}

// addressIn returns the address in a kubeconfig.
func addressIn(t *testing.T, kubeconfig string) *url.URL {
	t.Helper()
	_, rest, _ := strings.Cut(kubeconfig, `server: "`)
	address, _, _ := strings.Cut(rest, `"`)
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// silent returns a kubeconfig of the same cluster with an address that does not answer.
func silent(kubeconfig string) string {
	return strings.ReplaceAll(kubeconfig, "https://127.0.0.1", "https://127.0.0.2")
}

func clusterObject(namespace, name, spec string) string {
	return fmt.Sprintf(
		`{"kind": "Cluster", "apiVersion": "cluster.x-k8s.io/v1beta2", "metadata": {"namespace": %q, "name": %q}, "spec": {%s}}`, namespace, name, spec)
}

func kustomization(suspended bool, annotation string) string {
	return fmt.Sprintf(
		`{"kind": "Kustomization", "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "metadata": {"namespace": "flux-system", "name": "cluster", "annotations": {"cluster-init.io/suspended-for-pivot": %q}}, "spec": {"suspend": %t}}`, annotation, suspended)
}

func release(suspended bool, annotation string) string {
	return fmt.Sprintf(`{"kind": "HelmRelease", "apiVersion": "helm.toolkit.fluxcd.io/v2",
	"metadata": {"namespace": "flux-system", "name": "telco-cloud-init",
		"annotations": {"cluster-init.io/suspended-for-pivot": %q}}, "spec": {"suspend": %t}}`, annotation, suspended)
}

// engineOf is the Docker engine on which the clusters run.
type engineOf struct {
	fakeEngine
	finished   bool
	kubeconfig string // in the bootstrap cluster's node
	remote     string // DOCKER_HOST
	execFails  error
	clock      time.Time // its own clock; zero: it does not report one
}

func (e *engineOf) Info(context.Context) (docker.Info, error) {
	return docker.Info{Endpoint: e.remote, Time: e.clock}, e.fails["info"]
}

func (e *engineOf) HasFile(_ context.Context, _, path string) (bool, error) {
	return e.finished && path == "/etc/cluster-init.io/finished", e.fails["file"]
}

func (e *engineOf) Exec(_ context.Context, _ string, args []string, o docker.ExecOptions) error {
	if strings.Join(args, " ") != "cat /etc/kubernetes/admin.conf" {
		return fmt.Errorf("unexpected command %q", args)
	}
	_, _ = io.WriteString(o.Stdout, e.kubeconfig)
	return e.execFails
}

const bootstrapNode = "a-bootstrap-control-plane"

// bootstrapped returns an engine on which the bootstrap cluster of a runs, with this API server.
func bootstrapped(t *testing.T, a api) *engineOf {
	t.Helper()
	config := a.serve(t)
	e := &engineOf{finished: true, kubeconfig: config}
	address := addressIn(t, config)
	// The kubeconfig in the node has another address. The server name to verify is still that of the certificate.
	e.kubeconfig = strings.ReplaceAll(config, address.Host, bootstrapNode+":6443")
	e.containers = map[string]docker.Container{bootstrapNode: {Running: true, Status: "running",
		Mounts: []docker.Mount{{Target: "/etc/cluster-init.io/cluster/a"}},
		Labels: map[string]string{"io.x-k8s.kind.cluster": "a-bootstrap"},
		Ports:  map[string][]string{"6443/tcp": {"0.0.0.0:" + address.Port()}}}}
	return e
}

//go:build integration

package cli_test

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/cli"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/internal/testenv"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// recorder passes requests on to a real API server, and remembers those that change something there.
type recorder struct {
	kubeconfig []byte

	mu       sync.Mutex
	requests int
	writes   []string
}

func newRecorder(t *testing.T, server *testenv.Server) *recorder {
	t.Helper()
	transport, err := rest.TransportFor(server.Config)
	if err != nil {
		t.Fatal(err)
	}
	target, _, err := rest.DefaultServerUrlFor(server.Config)
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{}
	backend := &httputil.ReverseProxy{
		Rewrite:       func(p *httputil.ProxyRequest) { p.SetURL(&url.URL{Scheme: target.Scheme, Host: target.Host}) },
		Transport:     transport,
		FlushInterval: -1, // a watch's events at once
	}
	front := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		request.Header.Del("Authorization") // the transport has the administrator's certificate
		r.record(request)
		backend.ServeHTTP(w, request)
	}))
	front.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(front.Close)
	config := clientcmdapi.NewConfig()
	config.Clusters["recorder"] = &clientcmdapi.Cluster{Server: front.URL,
		CertificateAuthorityData: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw})}
	config.AuthInfos["recorder"] = &clientcmdapi.AuthInfo{Token: "unknown"}
	config.Contexts["recorder"] = &clientcmdapi.Context{Cluster: "recorder", AuthInfo: "recorder"}
	config.CurrentContext = "recorder"
	if r.kubeconfig, err = clientcmd.Write(*config); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *recorder) record(request *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests++
	switch {
	case request.Method == http.MethodGet, request.Method == http.MethodHead:
	case request.URL.Query().Get("dryRun") == "All":
	case strings.HasPrefix(request.URL.Path, "/apis/authorization.k8s.io/"),
		strings.HasPrefix(request.URL.Path, "/apis/authentication.k8s.io/"):
		// A review is a question, although it is posted.
	default:
		r.writes = append(r.writes, request.Method+" "+request.URL.RequestURI())
	}
}

// taken returns what was recorded since the last call.
func (r *recorder) taken() (requests int, writes []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	requests, writes = r.requests, r.writes
	r.requests, r.writes = 0, nil
	return requests, writes
}

// engineWithoutContainers answers as a Docker engine on a large machine does that runs nothing.
const engineWithoutContainers = `#!/bin/sh
case "$*" in
info*) echo '{"ServerVersion": "28", "MemTotal": 68719476736, "NCPU": 8, "CgroupVersion": "2", "OSType": "linux"}' ;;
*inspect*) echo "Error: No such object" >&2; exit 1 ;;
esac
`

// holdsKubeconfig replaces the management cluster's kubeconfig in the bootstrap cluster.
func (c *twoClusters) holdsKubeconfig(kubeconfig []byte) {
	c.t.Helper()
	secret := &corev1.Secret{}
	if err := c.source.Client.Get(c.t.Context(), client.ObjectKey{Namespace: fixture.Namespace,
		Name: "mgmt-kubeconfig"}, secret); err != nil {
		c.t.Fatal(err)
	}
	secret.Data["value"] = kubeconfig
	if err := c.source.Client.Update(c.t.Context(), secret); err != nil {
		c.t.Fatal(err)
	}
}

// Commands that say that they change nothing send no write to either cluster, other than dry runs.
func TestCommandsThatOnlyLookWriteNothing(t *testing.T) {
	c := newTwoClusters(t)
	t.Chdir(t.TempDir()) // where collect writes
	source, target := newRecorder(t, c.source), newRecorder(t, c.target)
	c.write(c.bootstrap, source.kubeconfig, 0o600)
	c.write(filepath.Join(c.state, "kubeconfig"), target.kubeconfig, 0o600)
	c.holdsKubeconfig(target.kubeconfig)
	folder := filepath.Dir(c.bootstrap)
	c.write(filepath.Join(folder, "docker"), []byte(engineWithoutContainers), 0o700)
	bundle := filepath.Join(folder, "bundle")
	if err := writeBundle(bundle); err != nil {
		t.Fatal(err)
	}
	named := []string{"kubeadm-capd", "--set", "cluster.name=" + fixture.Cluster, "--set", "cluster.namespace=" +
		fixture.Namespace}
	bootstrap := []string{"--bootstrap-kubeconfig", c.bootstrap}
	bundled := append(slices.Clone(bootstrap), "--bundle", bundle)
	for command, flags := range map[string][]string{
		"pivot plan": bootstrap, "status": bundled, "diff": bundled, "diagnose": bootstrap, "up --dry-run": bundled,
		"check":      bundled,
		"kubeconfig": bootstrap, "collect": bootstrap, "cleanup": nil, "down": nil,
	} {
		t.Run(command, func(t *testing.T) {
			args := slices.Concat(strings.Fields(command), named, flags)
			var out, errs bytes.Buffer
			code := cli.Main(t.Context(), args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
			asked := 0
			for name, side := range map[string]*recorder{"bootstrap": source, "management": target} {
				requests, writes := side.taken()
				asked += requests
				for _, write := range writes {
					t.Errorf("the %s cluster got %s", name, write)
				}
			}
			said := fmt.Sprintf("exit code %d, %d requests\n%s%s", code, asked, out.String(), errs.String())
			if asked == 0 {
				t.Errorf("the command asked neither cluster: %s", said)
			}
			t.Log(said)
		})
	}
	t.Run("a write is recorded", func(t *testing.T) {
		cluster, err := kube.Connect("bootstrap", source.kubeconfig, clientgoscheme.Scheme)
		if err != nil {
			t.Fatal(err)
		}
		written := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: fixture.Namespace, Name: "written"}}
		if err := cluster.Create(t.Context(), written, client.DryRunAll); err != nil {
			t.Fatal(err)
		}
		if _, writes := source.taken(); len(writes) > 0 {
			t.Errorf("a dry run is recorded: %v", writes)
		}
		if err := cluster.Create(t.Context(), written); err != nil {
			t.Fatal(err)
		}
		if _, writes := source.taken(); len(writes) != 1 {
			t.Errorf("recorded: %v", writes)
		}
	})
}

package diagnose

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/redact"
)

// listing is a provider that lists no machine, or fails.
type listing struct {
	provider.Provider
	err error
}

func (listing) Place() string { return "the cloud" }

func (l listing) Machines(context.Context) ([]provider.Machine, error) { return nil, l.err }

func kubeconfigOf(t *testing.T, server string) []byte {
	t.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["a"] = &clientcmdapi.Cluster{Server: server}
	config.AuthInfos["a"] = &clientcmdapi.AuthInfo{}
	config.Contexts["a"] = &clientcmdapi.Context{Cluster: "a", AuthInfo: "a"}
	config.CurrentContext = "a"
	text, err := clientcmd.Write(*config)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A cluster that should answer and does not may hold unknown Secrets: then no logs are kept.
func TestWhatIsSilent(t *testing.T) {
	const none = `[ "$1" = container ] && { echo "Error: No such container" >&2; exit 1; }
[ "$1" = info ] && echo '{"ServerVersion":"29.0.0"}'
exit 0
`
	const secret = "hunter2-hunter2"
	for name, tc := range map[string]struct {
		docker     string
		management string // server of its kubeconfig
		machines   error
		silent     bool
		unknown    int // what is not known of the machines
	}{
		"nothing exists":                       {none, "", nil, false, 0},
		"the cloud does not answer":            {none, "", errors.New("503"), false, 1},
		"the management cluster is silent":     {none, "https://127.0.0.1:1", nil, true, 0},
		"the Docker engine does not answer":    {"exit 1\n", "", nil, true, 0},
		"neither engine nor management answer": {"exit 1\n", "https://127.0.0.1:1", nil, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			binary, kubeconfig := filepath.Join(folder, "docker"), filepath.Join(folder, "kubeconfig")
			if err := os.WriteFile(binary, []byte("#!/bin/sh\n"+tc.docker), 0o700); err != nil {
				t.Fatal(err)
			}
			if tc.management != "" {
				if err := os.WriteFile(kubeconfig, kubeconfigOf(t, tc.management), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("PATH", folder+string(filepath.ListSeparator)+os.Getenv("PATH"))
			env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd",
				Content: clusterinit.Content(),
				Sets:    []string{"cluster.name=demo", "proxies.http_proxy=http://u:" + secret + "@p:1"}})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			c, known := gather(ctx, clusters.New(
				clusters.Subject{Identity: clusters.IdentityOf(env), StateFolder: folder, KubeconfigPath: kubeconfig,
					Timeout: time.Minute},
				clusters.Parts{Docker: &docker.Client{Binary: binary}, Kind: kind.New(func(string) {}),
					Provider: listing{err: tc.machines}, Now: time.Now}))
			if c.silent != tc.silent || len(c.NotChecked) != tc.unknown || len(c.Clusters) > 0 {
				t.Errorf("silent: %v, not known: %v", c.silent, c.NotChecked)
			}
			if (len(c.Observed) > 0) != tc.silent {
				t.Errorf("observed: %+v", c.Observed)
			}
			if known.Text(secret) == secret {
				t.Error("the environment's own secrets are not known")
			}
		})
	}
}

// apiServer serves one Machine that is not ready, and its Secrets to those who may list them.
func apiServer(t *testing.T, secrets int) *kube.Cluster {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		var answer map[string]any
		switch strings.TrimSuffix(r.URL.Path, "/") {
		case "/api":
			answer = map[string]any{"kind": "APIVersions", "versions": []string{"v1"}}
		case "/apis":
			version := map[string]any{"groupVersion": "cluster.x-k8s.io/v1beta2", "version": "v1beta2"}
			answer = map[string]any{"kind": "APIGroupList", "apiVersion": "v1", "groups": []any{map[string]any{
				"name": "cluster.x-k8s.io", "versions": []any{version}, "preferredVersion": version}}}
		case "/apis/cluster.x-k8s.io/v1beta2":
			answer = map[string]any{"kind": "APIResourceList", "apiVersion": "v1",
				"groupVersion": "cluster.x-k8s.io/v1beta2",
				"resources": []any{map[string]any{"name": "machines", "kind": "Machine", "namespaced": true,
					"verbs": []string{"list"}}}}
		case "/apis/cluster.x-k8s.io/v1beta2/machines":
			answer = map[string]any{"kind": "MachineList", "apiVersion": "cluster.x-k8s.io/v1beta2",
				"items": []any{machineOf(t, "m")[0].Object}}
		case "/api/v1":
			answer = map[string]any{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "v1",
				"resources": []any{map[string]any{"name": "secrets", "kind": "Secret", "namespaced": true,
					"verbs": []string{"list"}}}}
		case "/api/v1/secrets":
			w.WriteHeader(secrets)
			secret := map[string]any{"metadata": map[string]any{"name": "s"},
				"data": map[string][]byte{"password": []byte("hunter2-hunter2")}}
			answer = map[string]any{"kind": "SecretList", "apiVersion": "v1", "items": []any{secret}}
			if secrets != http.StatusOK {
				answer = map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": secrets}
			}
		default:
			w.WriteHeader(http.StatusNotFound)
			answer = map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 404}
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c, err := kube.Connect("management", kubeconfigOf(t, server.URL), scheme)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A diagnosis inspects machines only where they are to get ready, and where no secret can slip into what they write.
func TestWhichMachinesAreInspected(t *testing.T) {
	for name, tc := range map[string]struct {
		secrets     int
		moved, ends bool
		inspected   bool
	}{
		"as it is":                 {http.StatusOK, false, false, true},
		"a pivot moves it":         {http.StatusOK, true, false, false},
		"it is torn down":          {http.StatusOK, false, true, false},
		"its Secrets are unknown":  {http.StatusForbidden, false, false, false},
		"moved, Secrets not known": {http.StatusForbidden, true, false, false},
	} {
		of := &cloud{}
		of.answer = func(string) ([]provider.Said, error) {
			return []provider.Said{{From: "console", Text: "panic"}},
				nil
		}
		known := redact.New()
		seen := see(t.Context(), apiServer(t, tc.secrets), side{machines: of, suspendedForPivot: tc.moved,
			beingDeleted: tc.ends}, known)
		inspected, unknown := of.asked.Load() > 0, tc.secrets != http.StatusOK
		if inspected != tc.inspected || len(seen.MachineSignals) > 0 != tc.inspected || seen.secretsUnknown != unknown {
			t.Errorf("%s: inspected: %v, %+v, not checked: %v", name, inspected, seen.MachineSignals, seen.NotChecked)
		}
		told := strings.Contains(strings.Join(seen.NotChecked, "\n"), "which could hold unknown secrets")
		if told != unknown {
			t.Errorf("%s: it is named that logs are left out: %v", name, told)
		}
		if hidden := known.Text("hunter2-hunter2") != "hunter2-hunter2"; hidden == unknown {
			t.Errorf("%s: the Secret is hidden: %v", name, hidden)
		}
	}
}

//go:build integration

// Package testenv runs real kube-apiservers, each with its etcd, that serve the real CRDs of Cluster API and CAPD.
package testenv

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/cluster-init/cluster-init/pkg/capi"
)

// BinariesVariable names the environment variable with the folder of kube-apiserver and etcd.
const BinariesVariable = "CLUSTER_INIT_TEST_BINARIES"

// capdModule is the module of CAPD's CRDs, at the release of Cluster API that the root go.mod pins.
const capdModule = "sigs.k8s.io/cluster-api/test"

// Server is one running kube-apiserver.
type Server struct {
	Config *rest.Config
	Client client.Client
	env    *envtest.Environment
}

// Start runs a kube-apiserver with the CRDs, each labelled for clusterctl. Stop it in any case.
func Start() (*Server, error) {
	binaries := os.Getenv(BinariesVariable)
	if binaries == "" {
		return nil, fmt.Errorf("%s names no folder with kube-apiserver and etcd: `go run ./e2e/lab binaries` prints one", BinariesVariable)
	}
	scheme, err := capi.NewScheme()
	if err != nil {
		return nil, err
	}
	crds, err := crds()
	if err != nil {
		return nil, err
	}
	s := &Server{env: &envtest.Environment{BinaryAssetsDirectory: binaries, Scheme: scheme, CRDs: crds}}
	if s.Config, err = s.env.Start(); err != nil {
		return s, fmt.Errorf("start a kube-apiserver: %w", err)
	}
	s.Config.QPS = -1                                      // the tests wait for the server only
	s.Config.WarningHandlerWithContext = rest.NoWarnings{} // CAPD's deprecated kinds are no news
	s.Client, err = client.New(s.Config, client.Options{Scheme: scheme})
	return s, err
}

// Kubeconfig returns a kubeconfig of the server's administrator.
func (s *Server) Kubeconfig() []byte { return s.env.KubeConfig }

// Stop ends the processes of the server.
func (s *Server) Stop() error { return s.env.Stop() }

// crds reads the CRDs as the modules hold them: without the conversion webhooks that their kustomizations add.
func crds() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	core, err := moduleDir("list", "-m", "-json", "sigs.k8s.io/cluster-api")
	if err != nil {
		return nil, err
	}
	capd, err := moduleDir("mod", "download", "-json", capdModule+"@"+core.Version)
	if err != nil {
		return nil, err
	}
	found := &envtest.CRDInstallOptions{
		ErrorIfPathMissing: true,
		Paths: []string{
			filepath.Join(core.Dir, "core/config/crd/bases"),
			filepath.Join(core.Dir, "bootstrap/kubeadm/config/crd/bases"),
			filepath.Join(core.Dir, "controlplane/kubeadm/config/crd/bases"),
			filepath.Join(capd.Dir, "infrastructure/docker/config/crd/bases"),
		},
	}
	if err := envtest.ReadCRDFiles(found); err != nil {
		return nil, fmt.Errorf("read the CRDs of Cluster API: %w", err)
	}
	for _, crd := range found.CRDs {
		if crd.Labels == nil {
			crd.Labels = map[string]string{}
		}
		crd.Labels[capi.MoveLabel] = ""
	}
	return found.CRDs, nil
}

type module struct{ Dir, Version string }

func moduleDir(args ...string) (module, error) {
	out, err := exec.Command("go", args...).Output()
	var m module
	if err == nil {
		err = json.Unmarshal(out, &m)
	}
	if err != nil {
		return m, fmt.Errorf("go %v: %w", args, err)
	}
	return m, nil
}

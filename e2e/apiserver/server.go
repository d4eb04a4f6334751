//go:build integration

// Package apiserver runs a real kube-apiserver with its etcd for integration tests, and stands between it and its
// clients where a test wants faults.
package apiserver

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/cluster-init/cluster-init/e2e/lab/golang"
	"github.com/cluster-init/cluster-init/e2e/lab/host"
	"github.com/cluster-init/cluster-init/e2e/lab/manifest"
)

// BinariesVariable names the environment variable with the folder of kube-apiserver and etcd.
const BinariesVariable = "CLUSTER_INIT_TEST_BINARIES"

// Server is one running kube-apiserver.
type Server struct {
	env *envtest.Environment
}

// Start runs an empty kube-apiserver. Stop it when there is no error.
func Start() (*Server, error) {
	binaries := os.Getenv(BinariesVariable)
	if binaries == "" {
		return nil, fmt.Errorf("%s names no folder with kube-apiserver and etcd: `go run ./e2e/lab binaries` prints one", BinariesVariable)
	}
	s := &Server{env: &envtest.Environment{BinaryAssetsDirectory: binaries}}
	if _, err := s.env.Start(); err != nil {
		_ = s.env.Stop() // what did start
		return nil, fmt.Errorf("start a kube-apiserver: %w", err)
	}
	return s, nil
}

// Kubeconfig returns a kubeconfig of the server's administrator.
func (s *Server) Kubeconfig() []byte { return s.env.KubeConfig }

// Stop ends the processes of the server.
func (s *Server) Stop() error { return s.env.Stop() }

// FluxArchive returns manifests.tar.gz of the Flux that the root module pins, rendered from its controllers' modules.
func FluxArchive(ctx context.Context) ([]byte, error) {
	flux, err := golang.Source(ctx, ".", "github.com/fluxcd/flux2/v2")
	if err != nil {
		return nil, err
	}
	var controllers []manifest.Controller
	for _, name := range []string{"source-controller", "kustomize-controller", "helm-controller"} {
		path := "github.com/fluxcd/" + name
		version, err := pinned(ctx, path+"/api")
		if err != nil {
			return nil, err
		}
		dir, err := golang.Source(ctx, ".", path+"@"+version)
		if err != nil {
			return nil, err
		}
		controllers = append(controllers, manifest.Controller{Name: name, Version: version, Dir: dir})
	}
	made, err := manifest.Flux(flux+"/manifests", controllers, "")
	return made.Content, err
}

// pinned returns the version of a module that the root module requires.
func pinned(ctx context.Context, path string) (string, error) {
	out, err := host.Run(ctx, host.Command{Name: "go", Args: []string{"list", "-m", "-json", path}})
	if err != nil {
		return "", fmt.Errorf("look for module %s: %w", path, err)
	}
	var module struct{ Version string }
	if err := json.Unmarshal([]byte(out), &module); err != nil {
		return "", fmt.Errorf("look for module %s: %w", path, err)
	}
	return module.Version, nil
}

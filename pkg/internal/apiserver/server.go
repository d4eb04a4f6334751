//go:build integration

// Package apiserver runs a real kube-apiserver with its etcd for integration tests, and stands between it and its
// clients where a test wants faults.
package apiserver

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// BinariesVariable names the environment variable with the folder of kube-apiserver, etcd and the manifests of
// releases.
const BinariesVariable = "CLUSTER_INIT_TEST_BINARIES"

// AssetsVariable names the environment variable with a folder of kube-apiserver and etcd alone, as setup-envtest
// downloads them.
const AssetsVariable = "KUBEBUILDER_ASSETS"

// Server is one running kube-apiserver.
type Server struct {
	env *envtest.Environment
}

// Start runs a kube-apiserver that serves crds besides its own kinds. Stop it when there is no error.
func Start(crds ...*apiextensionsv1.CustomResourceDefinition) (*Server, error) {
	dir, err := servers()
	if err != nil {
		return nil, err
	}
	s := &Server{env: &envtest.Environment{BinaryAssetsDirectory: dir, CRDs: crds}}
	if _, err := s.env.Start(); err != nil {
		_ = s.env.Stop() // what did start
		return nil, fmt.Errorf("start a kube-apiserver: %w", err)
	}
	return s, nil
}

// Config returns a connection as the server's administrator, which waits for the server only: no limit of its own.
func (s *Server) Config() *rest.Config {
	config := rest.CopyConfig(s.env.Config)
	config.QPS = -1
	return config
}

// Kubeconfig returns a kubeconfig of the server's administrator.
func (s *Server) Kubeconfig() []byte { return s.env.KubeConfig }

// KubeconfigOf returns a kubeconfig of a user with a client certificate, who may do nothing yet.
func (s *Server) KubeconfigOf(user string) ([]byte, error) {
	added, err := s.env.AddUser(envtest.User{Name: user}, nil)
	if err != nil {
		return nil, fmt.Errorf("add user %s to a kube-apiserver: %w", user, err)
	}
	return added.KubeConfig()
}

// Stop ends the processes of the server.
func (s *Server) Stop() error { return s.env.Stop() }

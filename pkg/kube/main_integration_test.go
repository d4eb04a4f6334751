//go:build integration

package kube_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/cluster-init/cluster-init/pkg/internal/apiserver"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// server is the API server that all integration tests of this package share.
var server *apiserver.Server

func TestMain(m *testing.M) {
	code, err := runWithServer(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runWithServer(m *testing.M) (code int, err error) {
	if server, err = apiserver.Start(); err != nil {
		return 1, err
	}
	defer func() { _ = server.Stop() }()
	return m.Run(), nil
}

// connect makes a connection of the test's own.
func connect(t *testing.T, kubeconfig []byte) *kube.Cluster {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	c, err := kube.Connect("bootstrap", kubeconfig, scheme)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// bounded is the test's context with an end that no wait outlasts.
func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitBound)
	t.Cleanup(cancel)
	return ctx
}

//go:build integration

// Package fluxserver is a real API server with Flux's objects, but without any of its controllers.
package fluxserver

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/internal/apiserver"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// Server is the API server, what is installed in it, and a connection to it.
type Server struct {
	*apiserver.Server
	Flux   []*unstructured.Unstructured
	Client *kube.Cluster
}

// Main runs the tests of a package with one shared server, which ready gets before the first of them, and ends the
// process.
func Main(m *testing.M, ready func(Server)) {
	code, err := run(m, ready)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M, ready func(Server)) (code int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	archive, err := apiserver.ReadManifest(flux.ManifestsURL)
	if err != nil {
		return 1, err
	}
	var s Server
	if s.Flux, err = flux.Render(flux.Options{Archive: archive}); err != nil {
		return 1, err
	}
	if s.Server, err = apiserver.Start(); err != nil {
		return 1, err
	}
	defer func() { _ = s.Stop() }()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, flux.AddToScheme} {
		if err := add(scheme); err != nil {
			return 1, err
		}
	}
	if s.Client, err = kube.Connect("bootstrap", s.Kubeconfig(), scheme); err != nil {
		return 1, err
	}
	if err := flux.Install(ctx, s.Client, s.Flux); err != nil {
		return 1, err
	}
	ready(s)
	return m.Run(), nil
}

//go:build integration

package bootstrap

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/internal/apiserver"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// shared is what all integration tests of this package use: an API server with Flux's objects, but no controller.
var shared struct {
	server *apiserver.Server
	flux   []*unstructured.Unstructured
	client *kube.Cluster
}

func TestMain(m *testing.M) {
	code, err := runWithServer(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runWithServer(m *testing.M) (code int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	archive, err := apiserver.ReadManifest(flux.ManifestsURL)
	if err != nil {
		return 1, err
	}
	if shared.flux, err = flux.Render(flux.Options{Archive: archive}); err != nil {
		return 1, err
	}
	if shared.server, err = apiserver.Start(); err != nil {
		return 1, err
	}
	defer func() { _ = shared.server.Stop() }()
	if shared.client, err = connect(bootstrapName, shared.server.Kubeconfig()); err != nil {
		return 1, err
	}
	if err := flux.Install(ctx, shared.client, shared.flux); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

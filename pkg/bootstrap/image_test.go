package bootstrap_test

import (
	"testing"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/kind"
)

// What Cluster API, Flux and cert-manager of this release support is one version, for both clusters.
func TestTheBootstrapClusterHasTheNodeImageOfTheMachines(t *testing.T) {
	env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd", Content: clusterinit.Content()})
	if err != nil {
		t.Fatal(err)
	}
	if env.Spec().Cluster.NodeImage() != kind.DefaultNodeImage {
		t.Errorf("machines have %s, the bootstrap cluster %s", env.Spec().Cluster.NodeImage(), kind.DefaultNodeImage)
	}
}

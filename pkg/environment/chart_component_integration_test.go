//go:build integration

package environment_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/internal/apiserver"
)

// The API server, with the definitions of Flux, takes all objects of a chart without a field that it does not know.
func TestObjectsOfAChartAreTaken(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	server, err := apiserver.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	cluster := withFlux(ctx, t, server)
	file := filepath.Join(t.TempDir(), "charts.yaml")
	if err := os.WriteFile(file, []byte(charts), 0o600); err != nil {
		t.Fatal(err)
	}
	env := load(t, environment.Options{ValuesFiles: []string{file}})
	for _, name := range []string{"shop", "depot"} {
		for _, object := range chartObjects(t, env, name, nil) {
			if err := cluster.Create(ctx, object, client.FieldValidation("Strict")); err != nil {
				t.Errorf("%s %s: %v", object.GetKind(), object.GetName(), err)
			}
		}
	}
	// The same for those of a workload cluster, with Flux in it.
	if err := cluster.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team-a"}}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"kubeadm-capd", "kubeadm-capo", "rke2-capd"} {
		for _, object := range insideObjects(t, load(t, withInside(t, name))) {
			if err := cluster.Create(ctx, object, client.DryRunAll, client.FieldValidation("Strict")); err != nil {
				t.Errorf("%s: %s %s: %v", name, object.GetKind(), object.GetName(), err)
			}
		}
	}
}

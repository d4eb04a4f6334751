//go:build integration

package rollout

import (
	"context"
	"io/fs"
	"path"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	clusterinit "github.com/cluster-init/cluster-init"
)

const healthCheckDefinition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: machinehealthchecks.cluster.x-k8s.io}
spec:
  group: cluster.x-k8s.io
  scope: Namespaced
  names: {kind: MachineHealthCheck, listKind: MachineHealthCheckList, plural: machinehealthchecks, singular: machinehealthcheck}
  versions: [{name: v1beta2, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`

// Flux deletes the health checks that a value switches off, all of them included: the real kustomize-controller applies
// an empty folder. It deletes them with the component, too.
func TestHealthChecksThatAreSwitchedOffGo(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	shared.RunKustomizeController(t)
	source := shared.NewSource(ctx, t)
	files := map[string]string{}
	const folder = "kustomize-components/health-checks"
	entries, err := fs.ReadDir(clusterinit.Content(), folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		text, err := fs.ReadFile(clusterinit.Content(), path.Join(folder, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[path.Join(folder, entry.Name())] = string(text)
	}
	revision := source.Commit(ctx, t, files)
	s := pruned{t, ctx}
	definition := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(healthCheckDefinition), &definition.Object); err != nil {
		t.Fatal(err)
	}
	shared.Create(ctx, t, definition)
	t.Cleanup(func() { _ = shared.Client.Delete(context.Background(), definition) })

	const three = "cluster.control_plane.replicas=3"
	on := chartComponent(t, "health-checks", three, "cluster.namespace=default")
	on.Spec.DependsOn = nil
	shared.Create(ctx, t, on)
	for _, set := range []string{"cluster.health_checks.enabled=false", "cluster.health_checks.workers.enabled=false",
		"cluster.health_checks.control_plane.enabled=false"} {
		shared.Patch(ctx, t, on, `{"spec":{"patches":`+patchesOf(t, on)+`}}`)
		s.applied(on, revision)
		s.has("MachineHealthCheck", "default", "kubeadm-capd-control-plane")
		s.has("MachineHealthCheck", "default", "kubeadm-capd-workers")
		off := chartComponent(t, "health-checks", three, set)
		current := on.DeepCopy()
		shared.Patch(ctx, t, current, `{"spec":{"patches":`+patchesOf(t, off)+`}}`)
		s.applied(current, revision)
		if set != "cluster.health_checks.control_plane.enabled=false" {
			s.gone("MachineHealthCheck", "default", "kubeadm-capd-workers")
		}
		if set != "cluster.health_checks.workers.enabled=false" {
			s.gone("MachineHealthCheck", "default", "kubeadm-capd-control-plane")
		}
	}
	shared.Remove(ctx, t, on)
	s.gone("MachineHealthCheck", "default", "kubeadm-capd-workers")
}
